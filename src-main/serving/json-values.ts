import type { InputInfo } from '../../core/ensemble/tensors.ts';
import {
  columnNumbers,
  countOf,
  type GivenInput,
  isInRange,
  numeric,
  rangeRule,
  type TypedValues,
  wrongCount,
  wrongDatatype,
  wrongValue,
} from './given-input.ts';

interface JsonInput extends GivenInput {
  data: readonly unknown[];
}

/** The values of an input in JSON, flat or nested. @throws RequestError that names the value that does not fit */
export function readJsonValues(given: JsonInput, info: InputInfo): TypedValues {
  const flat = given.data.some(Array.isArray) ? flatten(given) : given.data;
  if (flat.length !== countOf(given)) throw wrongCount(given, flat.length);
  return info.kind === 'column' ? convertColumn(given, info, flat) : convert(given, info, flat);
}

/** Nested arrays, of any depth, in row-major order. Stops after one value too many. */
function flatten(given: JsonInput): unknown[] {
  const count = countOf(given);
  const flat: unknown[] = [];
  const stack: { values: readonly unknown[]; next: number }[] = [{ values: given.data, next: 0 }];
  for (let top = stack.at(-1); top !== undefined && flat.length <= count; top = stack.at(-1)) {
    if (top.next === top.values.length) {
      stack.pop();
      continue;
    }
    const value = top.values[top.next];
    top.next += 1;
    if (Array.isArray(value)) stack.push({ values: value, next: 0 });
    else flat.push(value);
  }
  return flat;
}

function convert(given: GivenInput, info: InputInfo, flat: readonly unknown[]): TypedValues {
  const { datatype } = given;
  if (!numeric.test(datatype)) throw wrongDatatype(given, `${info.datatype}, or another numeric one`);
  if (info.kind === 'values' && datatype === 'UINT8')
    return { datatype, values: fill(new Uint8Array(flat.length), flat, byteIn(given)) };
  return { datatype: 'FP32', values: fill(new Float32Array(flat.length), flat, numberIn(given)) };
}

function convertColumn(given: GivenInput, { datatype }: InputInfo, flat: readonly unknown[]): TypedValues {
  if (given.datatype === 'BYTES') return { datatype: 'BYTES', values: flat.map(textIn(given)) };
  if (datatype === 'FP64') {
    if (!numeric.test(given.datatype)) throw wrongDatatype(given, columnNumbers);
    const read = numberIn(given);
    const readOrMissing: Read<number> = (value, i) => (value === null ? Number.NaN : read(value, i));
    return { datatype, values: fill(new Float64Array(flat.length), flat, readOrMissing) };
  }
  if (given.datatype !== datatype) throw wrongDatatype(given, datatype);
  return { datatype, values: fill(new Float64Array(flat.length), flat, booleanIn(given)) };
}

type Read<T> = (value: unknown, index: number) => T;

/**
 * Reads each value into an array. `Float32Array.from` with a function goes through an iterator, and took 33 µs for 784
 * numbers instead of 1.
 */
function fill<A extends Float32Array | Float64Array | Uint8Array>(
  array: A,
  flat: readonly unknown[],
  read: Read<number>,
): A {
  for (let i = 0; i < flat.length; i++) array[i] = read(flat[i], i);
  return array;
}

function numberIn(given: GivenInput): Read<number> {
  return (value, index) => {
    if (typeof value === 'number' && isInRange(value)) return value;
    throw wrongValue(given, value, index, rangeRule);
  };
}

function byteIn(given: GivenInput): Read<number> {
  return (value, index) => {
    if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255) return value as number;
    throw wrongValue(given, value, index, 'a whole number from 0 to 255');
  };
}

function booleanIn(given: GivenInput): Read<number> {
  return (value, index) => {
    if (value === null) return Number.NaN;
    if (typeof value === 'boolean') return Number(value);
    throw wrongValue(given, value, index, 'true, false, or null where it is missing');
  };
}

function textIn(given: GivenInput): Read<string | null> {
  return (value, index) => {
    if (value === null || typeof value === 'string') return value;
    throw wrongValue(given, value, index, 'a text, or null where it is missing');
  };
}
