import { dataTypeOf, type WireArray } from './arrays.ts';
import { type Frame, FrameError, type MessageFrame } from './frames.ts';

/**
 * Any plain value as one message frame (`frame-layout.ts`). The frame's JSON is the value. Objects with one key replace
 * values that JSON cannot represent:
 *
 *     { "$array": 2 }         the frame's array of that index
 *     { "$number": "NaN" }    NaN, Infinity, -Infinity or -0
 *     { "$error": "text" }    an error, reduced to its message
 *
 * Other keys that begin with `$` get a second one in front.
 */

const numberSpellings = ['NaN', 'Infinity', '-Infinity', '-0'];

/** @throws TypeError for a value that would arrive changed: a Map, a Date, an array of another element type */
export function frameOfValue(value: unknown): MessageFrame {
  const arrays: WireArray[] = [];
  const message = lift(value, arrays);
  return { kind: 'message', message, arrays };
}

/** @throws FrameError if the frame holds a value that {@link frameOfValue} never writes */
export function valueOfFrame(frame: Frame | undefined): unknown {
  if (frame?.kind !== 'message') throw new FrameError('A value must be a message frame, not a collective.');
  return restore(frame.message, frame.arrays);
}

function lift(value: unknown, arrays: WireArray[]): unknown {
  if (typeof value === 'number') return liftNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) return { $array: liftArray(value, arrays) };
  if (Array.isArray(value)) return value.map((item) => lift(item, arrays));
  if (value instanceof Error) return { $error: value.message };
  requirePlain(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [escapeKey(key), lift(item, arrays)]));
}

function liftNumber(value: number): unknown {
  if (Object.is(value, -0)) return { $number: '-0' };
  return Number.isFinite(value) ? value : { $number: String(value) };
}

/** @returns its index among the frame's arrays */
function liftArray(array: ArrayBufferView, arrays: WireArray[]): number {
  requireWireArray(array);
  return arrays.push(array) - 1;
}

/** @throws TypeError for element types that frames do not support */
function requireWireArray(array: ArrayBufferView): asserts array is WireArray {
  dataTypeOf(array);
}

function requirePlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return;
  throw new TypeError(`${value.constructor.name} cannot travel between processes; send plain objects and arrays.`);
}

function restore(value: unknown, arrays: readonly WireArray[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => restore(item, arrays));
  const entries = Object.entries(value);
  const [first] = entries;
  if (first !== undefined && /^\$[^$]/.test(first[0])) return restoreSpecial(first, entries.length, arrays);
  return Object.fromEntries(entries.map(([key, item]) => [unescapeKey(key), restore(item, arrays)]));
}

function restoreSpecial([key, item]: [string, unknown], keyCount: number, arrays: readonly WireArray[]): unknown {
  const array = key === '$array' && typeof item === 'number' ? arrays[item] : undefined;
  if (keyCount === 1 && array !== undefined) return array;
  if (keyCount === 1 && key === '$number' && numberSpellings.some((spelling) => spelling === item)) return Number(item);
  if (keyCount === 1 && key === '$error' && typeof item === 'string') return new Error(item);
  throw new FrameError(`A message holds ${JSON.stringify({ [key]: item })}, which means nothing here.`);
}

const escapeKey = (key: string): string => (key.startsWith('$') ? `$${key}` : key);

function unescapeKey(key: string): string {
  if (!key.startsWith('$')) return key;
  if (key.startsWith('$$')) return key.slice(1);
  // Special keys are alone in their objects, so this message is not from our encoder, which also writes a single "$" as
  // "$$".
  throw new FrameError(`A message holds the key "${key}", which means nothing here.`);
}
