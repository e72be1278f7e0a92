import type { OpSample } from './op-case.ts';

/** Something that TensorFlow.js cannot do and says so: an error, not a wrong number. */
export interface Limit {
  readonly op: RegExp;
  applies(sample: OpSample): boolean;
  readonly message: RegExp;
}

const limits: readonly Limit[] = [
  {
    op: /^layers\.(batch|layer)Normalization/,
    applies: ({ inputs }) => inputs[0].shape.length > 4,
    message: /batchNormalization is not implemented for array of rank 5 yet/,
  },
];

/** The limit that a sample meets, if any. */
export function limitOf(op: string, sample: OpSample): Limit | undefined {
  return limits.find((limit) => limit.op.test(op) && limit.applies(sample));
}

export const isLimit = (op: string, sample: OpSample): boolean => limitOf(op, sample) !== undefined;
