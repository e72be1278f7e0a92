import type { InputInfo, Tensor } from '../../../core/ensemble/tensors.ts';
import type { ServedEnsemble, ServePrediction } from '../../../core/ensemble/serving.ts';
import type { InferAnswer, RequestCounts } from '../../../src-main/serving/batcher.ts';
import type { InferRequest } from '../../../src-main/serving/read-request.ts';

type Inputs = Pick<ServedEnsemble, 'inputs' | 'takesColumns'>;

export const taking = (...inputs: InputInfo[]): Inputs => ({ inputs, takesColumns: false });

/** Columns of houses. */
export const columns = taking(
  { name: 'size', datatype: 'FP64', shape: [-1, 1], kind: 'column' },
  { name: 'sold', datatype: 'BOOL', shape: [-1, 1], kind: 'column' },
  { name: 'town', datatype: 'BYTES', shape: [-1, 1], kind: 'column' },
);

export const served: ServedEnsemble = {
  name: 'houses',
  set: 'final',
  members: 2,
  inputs: [{ name: 'features', datatype: 'FP32', shape: [-1, 2], kind: 'values' }],
  takesColumns: false,
  outputs: [{ name: 'mean', datatype: 'FP64', shape: [-1, 1] }],
  cautions: [],
  warnings: [],
};

export function features(...values: number[]): Tensor {
  return { name: 'features', datatype: 'FP32', shape: [values.length / 2, 2], values: Float32Array.from(values) };
}

/** A request of samples with two features. */
export function request(...values: number[]): InferRequest {
  return { id: null, samples: values.length / 2, tensors: [features(...values)], outputs: null, binaryOutputs: [] };
}

/** The sum of each sample's features, as an ensemble might predict. */
export function sums([{ shape, values }]: readonly Tensor[]): Tensor[] {
  const own = values as Float32Array;
  return [
    {
      name: 'mean',
      datatype: 'FP64',
      shape: [shape[0], 1],
      values: Float64Array.from({ length: shape[0] }, (_, n) => own[2 * n] + own[2 * n + 1]),
    },
  ];
}

/** An answer without warnings. */
export const answered = (tensors: readonly Tensor[]): InferAnswer => ({ outputs: sums(tensors), warnings: [] });

/** The same for the requests of a batch. */
export const predicted = (tensors: readonly Tensor[], parts: readonly number[]): ServePrediction => ({
  outputs: sums(tensors),
  warnings: parts.map(() => []),
});

export const counts: RequestCounts = {
  waiting: 1,
  answered: 2,
  samples: 3,
  batches: 4,
  failed: 5,
  refused: 6,
  left: 7,
};
