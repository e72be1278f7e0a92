import { z } from 'zod';
import type { ServedEnsemble } from '../../core/ensemble/serving.ts';
import type { InputInfo, Tensor } from '../../core/ensemble/tensors.ts';
import { readBinaryValues } from './binary-values.ts';
import { type GivenInput, numeric, RequestError } from './given-input.ts';
import { readJsonValues } from './json-values.ts';

/** Samples to predict, read from a request. */
export interface InferRequest {
  /** Returned with the answer; null if the client gave none. */
  id: string | null;
  /** N. */
  samples: number;
  tensors: Tensor[];
  /** Names of outputs; null: all but those of single members. */
  outputs: string[] | null;
  /** Names of outputs that are answered as binary tensors. */
  binaryOutputs: 'all' | readonly string[];
}

const sizeSchema = z.int().min(0);
const parametersSchema = z.record(z.string(), z.unknown());
const inputSchema = z.object({
  name: z.string(),
  datatype: z.string(),
  shape: z.array(sizeSchema).min(1).max(16),
  parameters: parametersSchema.and(z.object({ binary_data_size: sizeSchema.optional() })).optional(),
  // Each value is checked when it is read as its datatype: a schema for each would cost more than all else of a
  // request.
  data: z.custom<readonly unknown[]>(Array.isArray, 'it must be an array').optional(),
});
const outputSchema = z.object({
  name: z.string(),
  parameters: parametersSchema.and(z.object({ binary_data: z.boolean().optional() })).optional(),
});
const requestSchema = z.object({
  id: z.string().optional(),
  parameters: parametersSchema.and(z.object({ binary_data_output: z.boolean().optional() })).optional(),
  inputs: z.array(inputSchema).min(1),
  outputs: z.array(outputSchema).optional(),
});
type RequestJson = z.output<typeof requestSchema>;

/**
 * Reads a request of the Open Inference Protocol (version 2): JSON with `inputs`, each with name, datatype, shape, and
 * either data, flat or nested, or the size of its binary data.
 * @param binary what follows the JSON: the data of binary inputs, one after the other
 * @throws RequestError that names the input and what does not fit
 */
export function readInferRequest(
  body: unknown,
  { inputs: own, takesColumns }: Pick<ServedEnsemble, 'inputs' | 'takesColumns'>,
  binary: Uint8Array = new Uint8Array(0),
): InferRequest {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) throw new RequestError(400, `The request does not fit: ${z.prettifyError(parsed.error)}`);
  const { id = null, outputs } = parsed.data;
  const given = withData(parsed.data, binary);
  requireKnownParameters(parsed.data);
  const isOwn = given.some(({ name }) => own.some((info) => info.name === name));
  const inputs = takesColumns && !isOwn ? given.map(columnInfo) : own;
  const names = own.map(({ name }) => name).join(', ') + (takesColumns ? ', or columns for the project' : '');
  const unknown = given.find(({ name }) => !inputs.some((info) => info.name === name));
  if (unknown !== undefined) {
    throw new RequestError(400, `There is no input "${unknown.name}". The ensemble takes ${names}.`);
  }
  const tensors = inputs.flatMap((info) => {
    const found = given.filter(({ name }) => name === info.name);
    if (found.length === 1) return [readTensor(found[0], info)];
    if (found.length === 0 && info.isOptional) return [];
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
    binaryOutputs: binaryOutputsOf(parsed.data),
  };
}

/** A column that only the project's code knows. */
function columnInfo({ name, datatype }: GivenInput): InputInfo {
  const own = numeric.test(datatype) ? 'FP64' : datatype;
  if (own === 'FP64' || own === 'BOOL' || own === 'BYTES')
    return { name, datatype: own, shape: [-1, 1], kind: 'column' };
  throw new RequestError(
    400,
    `The input "${name}" has the datatype ${JSON.stringify(datatype)}; a column is FP64, or another numeric ` +
      'one, BOOL or BYTES.',
  );
}

/** Each input with the values of the JSON, or with its bytes. */
function withData({ inputs }: RequestJson, binary: Uint8Array): GivenInput[] {
  let end = 0;
  const given = inputs.map(({ name, datatype, shape, data, parameters }): GivenInput => {
    const size = parameters?.binary_data_size;
    if ((size === undefined) === (data === undefined)) {
      throw new RequestError(400, `The input "${name}" must have either "data" or the parameter "binary_data_size".`);
    }
    end += size ?? 0;
    return { name, datatype, shape, data: data ?? binary.subarray(end - (size ?? 0), end) };
  });
  if (end === binary.length) return given;
  throw new RequestError(
    400,
    `The inputs announce ${end} bytes of binary data (binary_data_size), and ${binary.length} follow the JSON.`,
  );
}

/** Parameters that would change what tensors hold must not be ignored. */
function requireKnownParameters({ inputs, outputs = [] }: RequestJson): void {
  for (const { name, parameters = {} } of [...inputs, ...outputs]) {
    const other = Object.keys(parameters).find((key) => /^(shared_memory_|classification$)/.test(key));
    if (other === undefined) continue;
    throw new RequestError(
      400,
      `The parameter "${other}" of "${name}" is not supported: send values as JSON or binary data, and use the ` +
        'outputs as they are.',
    );
  }
}

function binaryOutputsOf({ parameters, outputs = [] }: RequestJson): InferRequest['binaryOutputs'] {
  const byDefault = parameters?.binary_data_output ?? false;
  if (outputs.length === 0) return byDefault ? 'all' : [];
  return outputs.filter((output) => output.parameters?.binary_data ?? byDefault).map(({ name }) => name);
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
  const { name, shape, data } = given;
  requireShape(given, info);
  const typed =
    data instanceof Uint8Array ? readBinaryValues({ ...given, data }, info) : readJsonValues({ ...given, data }, info);
  return { name, ...typed, shape };
}

function requireShape({ name, shape }: GivenInput, info: InputInfo): void {
  const isColumn = info.kind === 'column' && shape.length === 1;
  const fits =
    isColumn || (shape.length === info.shape.length && info.shape.every((size, i) => size === -1 || size === shape[i]));
  if (fits && !shape.includes(0)) return;
  throw new RequestError(
    400,
    `The input "${name}" has the shape [${shape.join(', ')}]; it must be [${info.shape.join(', ')}], where -1 ` +
      'is any size from 1.',
  );
}
