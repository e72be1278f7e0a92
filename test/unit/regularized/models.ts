import type { Batch } from '../../../workers/data/dataset.ts';
import { tf, type LayersModel, type Variable } from '../../../workers/tensorflow/tf.ts';
import { readGolden } from '../../golden/read-golden.ts';

interface TrainedModels {
  weights: number[][];
  losses: number[][];
}

interface Reference {
  features: number[][];
  labels: number[];
  /** Samples by step and rank. */
  batches: number[][][];
  /** Initial weights by member. */
  start: number[][];
  runs: Record<'independent' | 'oneModel' | 'joint' | 'pipelined' | 'hdet', TrainedModels>;
}

export const reference = readGolden('regularized/regularized.json') as Reference;

/** The reference's model with a member's initial weights. */
export function createModel(member: number): LayersModel {
  const { constraints, layers, regularizers } = tf;
  const model = tf.sequential({
    layers: [
      layers.dense({
        units: 6,
        activation: 'tanh',
        inputShape: [4],
        kernelRegularizer: regularizers.l1l2({ l1: 0.01, l2: 0.02 }),
        kernelConstraint: constraints.maxNorm({ maxValue: 0.8, axis: 0 }),
        biasRegularizer: regularizers.l1({ l1: 0.03 }),
      }),
      layers.dense({
        units: 3,
        kernelRegularizer: regularizers.l2({ l2: 0.1 }),
        kernelConstraint: constraints.unitNorm({ axis: 0 }),
        biasConstraint: constraints.nonNeg(),
      }),
    ],
  });
  setVariables(model, reference.start[member]);
  return model;
}

/** Sets trained weights without applying constraints, unlike `setWeights`. */
export function setVariables(model: LayersModel, values: readonly number[]): void {
  let next = 0;
  for (const weight of model.trainableWeights) {
    const variable = weight.read() as Variable;
    const own = values.slice(next, (next += variable.size));
    tf.tidy(() => variable.assign(tf.tensor(own, variable.shape)));
  }
}

export function batchOf(samples: readonly number[]): Batch {
  return {
    features: Float32Array.from(samples.flatMap((sample) => reference.features[sample])),
    featureShape: [samples.length, 4],
    targets: Int32Array.from(samples, (sample) => reference.labels[sample]),
    targetShape: [samples.length],
  };
}
