import { z } from 'zod';
import type { Frame, MessageFrame } from '../protocol/wire/frames.ts';
import { inputInfoSchema, type Tensor, tensorInfoSchema } from './tensors.ts';
import type { WireArray } from '../protocol/wire/arrays.ts';

const countedValueSchema = z.strictObject({ value: z.string(), count: z.int().positive() });

/** What of a column of a table does not fit the training split, and what predictions make of it. */
const columnWarningSchema = z.strictObject({
  /** Name of the column. */
  column: z.string(),
  /** Rows that were predicted. */
  rows: z.int().positive(),
  /**
   * Rows without a value, all of them where the column is absent; they count as the value that training put for missing
   * ones.
   */
  missing: z.int().min(0),
  /** Rows with a value that is not of the column's type, such as a text for a number; they count as missing ones do. */
  mistyped: z.int().min(0),
  /** The most frequent such values as texts, at most three. */
  mistypedValues: z.array(countedValueSchema).max(3),
  /** Rows with a category that the training split lacks; they count as none of its categories. */
  unseen: z.int().min(0),
  /** The most frequent such values, at most three. */
  unseenValues: z.array(countedValueSchema).max(3),
  /** Rows with a number or date outside of the range of the training split; they count as they are. */
  outside: z.int().min(0),
  /** The smallest and the largest of these as texts, one where they are the same; dates in ISO 8601. */
  outsideValues: z.array(z.string()).max(2),
});
export type ColumnWarning = z.output<typeof columnWarningSchema>;

/** A tensor in a message: texts are in its JSON, numbers in the message's next array. */
const packedTensorSchema = tensorInfoSchema.extend({ texts: z.array(z.string().nullable()).nullable() });
const packedTensorsSchema = z.array(packedTensorSchema);
type PackedTensor = z.output<typeof packedTensorSchema>;

/** Parts of a message with these tensors. */
function packTensors(tensors: readonly Tensor[]): { packed: PackedTensor[]; arrays: WireArray[] } {
  const arrays: WireArray[] = [];
  const packed = tensors.map(({ values, ...info }): PackedTensor => {
    if (!ArrayBuffer.isView(values)) return { ...info, texts: [...values] };
    arrays.push(values as WireArray);
    return { ...info, texts: null };
  });
  return { packed, arrays };
}

/** @throws RangeError if the arrays are not those of the tensors */
function unpackTensors(packed: readonly PackedTensor[], arrays: readonly WireArray[]): Tensor[] {
  const left = [...arrays];
  const tensors = packed.map(({ texts, ...info }): Tensor => {
    const values = texts ?? left.shift() ?? [];
    const count = info.shape.reduce((product, size) => product * size, 1);
    // No tensor of a prediction holds bfloat16.
    if (values.length === count && !(values instanceof Uint16Array)) return { ...info, values };
    throw new RangeError(
      `The tensor "${info.name}" of shape [${info.shape.join(', ')}] came with ${values.length} values.`,
    );
  });
  if (left.length > 0) throw new RangeError(`A message has ${left.length} arrays more than tensors of numbers.`);
  return tensors;
}

/**
 * Messages between `tutti serve` and the process that predicts (`workers/entries/serve.ts`): frames on the pipe to the
 * hub (`wire/channel.ts`). Arrays cross as bytes.
 */

const servedEnsembleSchema = z.strictObject({
  /** Name of the run, and of the checkpoints. */
  name: z.string(),
  set: z.string(),
  /** How many. */
  members: z.int().positive(),
  inputs: z.array(inputInfoSchema),
  /** Whether requests may also give columns of any names, which the project's own code turns into inputs. */
  takesColumns: z.boolean(),
  outputs: z.array(tensorInfoSchema),
  /** What readers of the answers should know. */
  cautions: z.array(z.string()),
  /** What the terminal tells its user. */
  warnings: z.array(z.string()),
});
/** What the server knows of the ensemble once the process has opened it. */
export type ServedEnsemble = z.output<typeof servedEnsembleSchema>;

const requestSchema = z.strictObject({
  tensors: packedTensorsSchema,
  /** Names of outputs; null: all but those of single members. */
  outputs: z.array(z.string()).nullable(),
  /** Samples of each request that was joined to these, in their order. */
  parts: z.array(z.int().positive()),
});
/** Samples to predict. The process gets the next ones after its answer. */
export type ServeRequest = Omit<z.output<typeof requestSchema>, 'tensors'> & { tensors: Tensor[] };

const readySchema = z.strictObject({ type: z.literal('ready'), ensemble: servedEnsembleSchema });
const predictedSchema = z.strictObject({
  type: z.literal('predicted'),
  outputs: packedTensorsSchema,
  /** What the prediction could not use of the columns of each request. */
  warnings: z.array(z.array(columnWarningSchema)),
});
/** The samples, or the ensemble before it is ready, are at fault. */
const failedSchema = z.strictObject({ type: z.literal('failed'), message: z.string(), stack: z.string() });
const replySchema = z.discriminatedUnion('type', [readySchema, predictedSchema, failedSchema]);

type PredictedMessage = z.output<typeof predictedSchema>;
/** Predictions for the requests of a batch. */
export type ServePrediction = Pick<PredictedMessage, 'warnings'> & { outputs: Tensor[] };

export type ServeReply =
  z.output<typeof readySchema> | (Pick<PredictedMessage, 'type'> & ServePrediction) | z.output<typeof failedSchema>;

export function frameOfRequest({ tensors, ...about }: ServeRequest): MessageFrame {
  const { packed, arrays } = packTensors(tensors);
  return { kind: 'message', message: { tensors: packed, ...about } satisfies z.input<typeof requestSchema>, arrays };
}

/** @throws Error for another frame */
export function requestOfFrame(frame: Frame): ServeRequest {
  const { message, arrays } = requireMessage(frame);
  const { tensors, ...about } = requestSchema.parse(message);
  return { tensors: unpackTensors(tensors, arrays), ...about };
}

export function frameOfReply(reply: ServeReply): MessageFrame {
  if (reply.type !== 'predicted') return { kind: 'message', message: reply, arrays: [] };
  const { packed, arrays } = packTensors(reply.outputs);
  return { kind: 'message', message: { ...reply, outputs: packed }, arrays };
}

/** @throws Error for another frame */
export function replyOfFrame(frame: Frame): ServeReply {
  const { message, arrays } = requireMessage(frame);
  const reply = replySchema.parse(message);
  return reply.type === 'predicted' ? { ...reply, outputs: unpackTensors(reply.outputs, arrays) } : reply;
}

function requireMessage(frame: Frame): MessageFrame {
  if (frame.kind === 'message') return frame;
  throw new TypeError('The server and its process exchange messages, and no collectives.');
}
