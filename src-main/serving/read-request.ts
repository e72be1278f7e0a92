import { z } from 'zod';
import type { InputInfo, Tensor } from '../../core/ensemble/tensors.ts';

/** A request that cannot be answered, with the HTTP status that says so. */
export class RequestError extends Error {
  override name = 'RequestError';
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Samples to predict, read from a request. */
export interface InferRequest {
  /** Returned with the answer; null if the client gave none. */
  id: string | null;
  /** N. */
  samples: number;
  tensors: Tensor[];
  /** Names of outputs; null: all but those of single members. */
  outputs: string[] | null;
}

const sizeSchema = z.int().min(0);
const parametersSchema = z.record(z.string(), z.unknown()).optional();
const inputSchema = z.object({
  name: z.string(),
  datatype: z.string(),
  shape: z.array(sizeSchema).min(1).max(16),
  parameters: parametersSchema,
  data: z.array(z.unknown()),
});
const requestSchema = z.object({
  id: z.string().optional(),
  parameters: parametersSchema,
  inputs: z.array(inputSchema).min(1),
  outputs: z.array(z.object({ name: z.string(), parameters: parametersSchema })).optional(),
});
type GivenInput = z.output<typeof inputSchema>;

const numeric = /^(U?INT(8|16|32|64)|FP(16|32|64))$/;

/**
 * Reads a request of the Open Inference Protocol (version 2): JSON with `inputs`, each with name, datatype, shape and data, flat or nested.
 * @throws RequestError that names the input and what does not fit
 */
export function readInferRequest(body: unknown, inputs: readonly InputInfo[]): InferRequest {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) throw new RequestError(400, `The request does not fit: ${z.prettifyError(parsed.error)}`);
  const { id = null, inputs: given, outputs } = parsed.data;
  const names = inputs.map(({ name }) => name).join(', ');
  const unknown = given.find(({ name }) => !inputs.some((own) => own.name === name));
  if (unknown !== undefined) {
    throw new RequestError(400, `There is no input "${unknown.name}". The ensemble takes ${names}.`);
  }
  const tensors = inputs.map((info) => {
    const found = given.filter(({ name }) => name === info.name);
    if (found.length === 1) return readTensor(found[0], info);
    throw new RequestError(
      400,
      `Give the input "${info.name}" once, not ${found.length} times. The ensemble takes ${names}.`,
    );
  });
  return {
    id,
    samples: samplesOf(tensors),
    tensors,
    outputs: outputs?.length ? outputs.map(({ name }) => name) : null,
  };
}

function samplesOf(tensors: readonly Tensor[]): number {
  const [first] = tensors;
  const [samples] = first.shape;
  const other = tensors.find(({ shape }) => shape[0] !== samples);
  if (other !== undefined) {
    throw new RequestError(
      400,
      `The input "${first.name}" has ${samples} samples, "${other.name}" has ${other.shape[0]}: all must have as many.`,
    );
  }
  return samples;
}

function readTensor(given: GivenInput, info: InputInfo): Tensor {
  requireShape(given, info);
  const count = given.shape.reduce((product, size) => product * size, 1);
  const flat = given.data.some(Array.isArray) ? flatten(given, count) : given.data;
  if (flat.length !== count) {
    throw new RequestError(
      400,
      `The input "${given.name}" has ${flat.length} values; its shape [${given.shape.join(', ')}] needs ${count}.`,
    );
  }
  return { name: given.name, ...convert(given, info, flat), shape: given.shape };
}

function requireShape({ name, shape }: GivenInput, info: InputInfo): void {
  const isColumn = info.kind === 'column' && shape.length === 1;
  const fits =
    isColumn || (shape.length === info.shape.length && info.shape.every((size, i) => size === -1 || size === shape[i]));
  if (fits && !shape.includes(0)) return;
  throw new RequestError(
    400,
    `The input "${name}" has the shape [${shape.join(', ')}]; it must be [${info.shape.join(', ')}], where -1 is any size from 1.`,
  );
}

/** Nested arrays, of any depth, in row-major order. Stops after one value too many. */
function flatten({ data }: GivenInput, count: number): unknown[] {
  const flat: unknown[] = [];
  const stack: { values: readonly unknown[]; next: number }[] = [{ values: data, next: 0 }];
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

function convert(given: GivenInput, info: InputInfo, flat: readonly unknown[]): Pick<Tensor, 'datatype' | 'values'> {
  const { datatype } = given;
  if (info.kind === 'column') return convertColumn(given, info, flat);
  if (!numeric.test(datatype)) throw wrongDatatype(given, `${info.datatype}, or another numeric one`);
  if (info.kind === 'values' && datatype === 'UINT8') return { datatype, values: Uint8Array.from(flat, byteIn(given)) };
  return { datatype: 'FP32', values: Float32Array.from(flat, numberIn(given)) };
}

function convertColumn(
  given: GivenInput,
  info: InputInfo,
  flat: readonly unknown[],
): Pick<Tensor, 'datatype' | 'values'> {
  const { datatype } = info;
  if (datatype === 'FP64') {
    if (!numeric.test(given.datatype)) throw wrongDatatype(given, 'FP64, or another numeric one');
    const read = numberIn(given);
    return { datatype, values: Float64Array.from(flat, (value, i) => (value === null ? Number.NaN : read(value, i))) };
  }
  if (given.datatype !== datatype) throw wrongDatatype(given, datatype);
  if (datatype === 'BOOL') return { datatype, values: Float64Array.from(flat, booleanIn(given)) };
  return { datatype, values: flat.map(textIn(given)) };
}

function wrongDatatype({ name, datatype }: GivenInput, right: string): RequestError {
  return new RequestError(
    400,
    `The input "${name}" has the datatype ${JSON.stringify(datatype)}; it must be ${right}.`,
  );
}

type Read<T> = (value: unknown, index: number) => T;

function wrongValue({ name }: GivenInput, value: unknown, index: number, right: string): RequestError {
  const shown = (JSON.stringify(value) ?? 'nothing').slice(0, 60);
  return new RequestError(400, `Value ${index} of the input "${name}" is ${shown}; it must be ${right}.`);
}

function numberIn(given: GivenInput): Read<number> {
  return (value, index) => {
    if (typeof value === 'number' && Number.isFinite(Math.fround(value))) return value;
    throw wrongValue(given, value, index, 'a number within the range of 32-bit floats');
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
