import type { Tensor } from '../../core/ensemble/tensors.ts';

/** An input as a request gives it: its values are not read yet. */
export interface GivenInput {
  name: string;
  datatype: string;
  shape: number[];
  /** Values of JSON, flat or nested, or the bytes of the binary extension. */
  data: readonly unknown[] | Uint8Array;
}

export type TypedValues = Pick<Tensor, 'datatype' | 'values'>;

/** Numeric datatypes of the protocol. Only the binary extension has BF16. */
export const numeric = /^(U?INT(8|16|32|64)|FP(16|32|64)|BF16)$/;

/** What the column of a table that holds numbers takes; texts are read as those of the table. */
export const columnNumbers = 'FP64, or another numeric one, or BYTES';

export function countOf({ shape }: GivenInput): number {
  return shape.reduce((product, size) => product * size, 1);
}

export function wrongCount(given: GivenInput, found: number): RequestError {
  const shape = given.shape.join(', ');
  return new RequestError(
    400,
    `The input "${given.name}" has ${found} values; its shape [${shape}] needs ${countOf(given)}.`,
  );
}

export function wrongDatatype({ name, datatype }: GivenInput, right: string): RequestError {
  return new RequestError(
    400,
    `The input "${name}" has the datatype ${JSON.stringify(datatype)}; it must be ${right}.`,
  );
}

export function wrongValue({ name }: GivenInput, value: unknown, index: number, right: string): RequestError {
  const shown = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'nothing').slice(0, 60);
  return new RequestError(400, `Value ${index} of the input "${name}" is ${shown}; it must be ${right}.`);
}

/** Networks compute with 32-bit floats. */
export const isInRange = (value: number): boolean => Number.isFinite(Math.fround(value));
export const rangeRule = 'a number within the range of 32-bit floats';

/** A request that cannot be answered, with the HTTP status that says so. */
export class RequestError extends Error {
  override name = 'RequestError';
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}
