import { isUtf8 } from 'node:buffer';
import type { ColumnWarning } from '../../core/ensemble/serving.ts';
import type { Tensor } from '../../core/ensemble/tensors.ts';
import { encodeUtf8 } from '../../core/text/host.ts';
import { messageOf } from '../../core/text/errors.ts';
import { requireText } from '../../core/text/text-encoding.ts';
import type { InferAnswer } from './batcher.ts';
import type { InferRequest } from './read-request.ts';
import { RequestError } from './given-input.ts';

/**
 * Bodies of the Open Inference Protocol: JSON, and after it the data of binary tensors. The header says how many bytes
 * the JSON has.
 */
export const lengthHeader = 'inference-header-content-length';

/** Tells of warnings without a look at the body. */
const warningsHeader = 'tutti-warnings';

/** @param length the header's text; undefined: all is JSON @throws RequestError if the body is no such thing */
export function splitBody(body: Buffer, length: string | undefined): { json: unknown; binary: Uint8Array } {
  const end = length === undefined ? body.length : Number(length);
  if (!/^\d+$/.test(length ?? '0') || end > body.length) {
    throw new RequestError(
      400,
      `The header "Inference-Header-Content-Length: ${length}" must be the number of bytes of JSON in the ` +
        `body, at most ${body.length}.`,
    );
  }
  try {
    requireText(body.subarray(0, end), 'The body', 0, { isUtf8 });
    return { json: JSON.parse(body.toString('utf8', 0, end)), binary: body.subarray(end) };
  } catch (error) {
    throw new RequestError(400, `The body is not JSON: ${messageOf(error)}`);
  }
}

export interface InferBody {
  bytes: Buffer;
  /** Type of the body, bytes of its JSON if that is not all, and sums of the warnings if there are any. */
  headers: Readonly<Record<string, string>>;
}

/**
 * The answer to a request.
 * @param cautions what a reader of any answer must know: the parameter `caution` of the answer
 */
export function answerBody(
  model: string,
  { id, binaryOutputs }: Pick<InferRequest, 'id' | 'binaryOutputs'>,
  { outputs: tensors, warnings }: InferAnswer,
  cautions: readonly string[] = [],
): InferBody {
  const parts: Uint8Array[] = [];
  const outputs = tensors.map((tensor) => {
    const { name, datatype, shape } = tensor;
    if (binaryOutputs !== 'all' && !binaryOutputs.includes(name))
      return { name, datatype, shape, data: dataOf(tensor) };
    const bytes = bytesOf(tensor);
    parts.push(bytes);
    return { name, datatype, shape, parameters: { binary_data_size: bytes.length } };
  });
  const parameters = cautions.length > 0 && { parameters: { caution: cautions.join(' ') } };
  const own = warnings.length > 0 && { warnings: warnings.map(warningField) };
  const about = { model_name: model, ...(id !== null && { id }), ...parameters, ...own };
  const json = Buffer.from(JSON.stringify({ ...about, outputs }));
  const told = warnings.length > 0 && { [warningsHeader]: sumsOf(warnings) };
  if (parts.length === 0) return { bytes: json, headers: { 'content-type': 'application/json', ...told } };
  const headers = { 'content-type': 'application/octet-stream', [lengthHeader]: String(json.length), ...told };
  return { bytes: Buffer.concat([json, ...parts]), headers };
}

function warningField(warning: ColumnWarning): object {
  const { mistyped, mistypedValues, unseen, unseenValues, outside, outsideValues, ...counts } = warning;
  return {
    ...counts,
    mistyped,
    mistyped_values: mistypedValues,
    unseen,
    unseen_values: unseenValues,
    outside,
    outside_values: outsideValues,
  };
}

/** Over all columns, as a dictionary of structured fields (RFC 9651): `missing=2, mistyped=0, unseen=1, outside=0`. */
function sumsOf(warnings: readonly ColumnWarning[]): string {
  const counts = ['missing', 'mistyped', 'unseen', 'outside'] as const;
  return counts.map((of) => `${of}=${warnings.reduce((sum, own) => sum + own[of], 0)}`).join(', ');
}

/** Values that are not finite become null, because JSON has none. */
function dataOf({ datatype, values }: Tensor): unknown[] {
  return datatype === 'BOOL' ? Array.from(values as Uint8Array, (value) => value === 1) : Array.from<unknown>(values);
}

/** Little-endian and without padding, as the processor holds them. A text follows its length as a 32-bit integer. */
function bytesOf({ values }: Tensor): Uint8Array {
  if (ArrayBuffer.isView(values)) return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return Buffer.concat(
    values.flatMap((text) => {
      const bytes = encodeUtf8(text ?? '');
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    }),
  );
}
