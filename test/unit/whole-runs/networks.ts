import type { LossContext } from '../../../workers/project/define-project.ts';
import { tf, type LayersModel, type Scalar, type SymbolicTensor } from '../../../workers/tensorflow/tf.ts';
import type { LossFunction } from '../../../workers/member/member.ts';
import { gaussianNllLoss, taskOf } from '../../../workers/member/tasks.ts';
import type { RecordedRun } from './recorded-runs.ts';

const { layers } = tf;

/** The networks of `generator/networks.py`, each with its layers in the order of the recorded weights. */
const networks = {
  mlp: {
    layerNames: ['hidden', 'out'],
    create: () =>
      tf.sequential({
        layers: [
          layers.dense({ name: 'hidden', units: 6, activation: 'tanh', inputShape: [4] }),
          layers.dense({ name: 'out', units: 3 }),
        ],
      }),
  },
  penalised: {
    layerNames: ['hidden', 'out'],
    create: () =>
      tf.sequential({
        layers: [
          layers.dense({
            name: 'hidden',
            units: 6,
            activation: 'tanh',
            inputShape: [4],
            kernelRegularizer: tf.regularizers.l2({ l2: 0.02 }),
            kernelConstraint: tf.constraints.maxNorm({ maxValue: 0.9, axis: 0 }),
          }),
          layers.dense({ name: 'out', units: 3, kernelRegularizer: tf.regularizers.l1({ l1: 0.005 }) }),
        ],
      }),
  },
  normalized: {
    layerNames: ['hidden', 'normal', 'out'],
    create: () =>
      tf.sequential({
        layers: [
          layers.dense({ name: 'hidden', units: 6, useBias: false, inputShape: [4] }),
          layers.batchNormalization({ name: 'normal', momentum: 0.9, epsilon: 0.1 }),
          layers.activation({ activation: 'tanh' }),
          layers.dense({ name: 'out', units: 3 }),
        ],
      }),
  },
  convolutional: {
    layerNames: ['conv', 'out'],
    create: () =>
      tf.sequential({
        layers: [
          layers.conv2d({
            name: 'conv',
            filters: 3,
            kernelSize: 3,
            strides: 2,
            padding: 'same',
            activation: 'tanh',
            inputShape: [6, 6, 1],
          }),
          layers.flatten(),
          layers.dense({ name: 'out', units: 3 }),
        ],
      }),
  },
  heads: { layerNames: ['mean_hidden', 'mean', 'variance_hidden', 'variance'], create: createHeads },
} as const;

export type NetworkName = keyof typeof networks;

function createHeads(): LayersModel {
  const x = tf.input({ shape: [4] });
  const head = (name: string, activation: 'linear' | 'softplus'): SymbolicTensor => {
    const hidden = layers.dense({ name: `${name}_hidden`, units: 5, activation: 'sigmoid' });
    return layers.dense({ name, units: 1, activation }).apply(hidden.apply(x)) as SymbolicTensor;
  };
  return tf.model({ inputs: x, outputs: [head('mean', 'linear'), head('variance', 'softplus')] });
}

/** A network with recorded weights. */
export function createNetwork(name: NetworkName, initial: readonly number[]): LayersModel {
  const model = networks[name].create();
  let start = 0;
  for (const weight of orderedWeights(model, name)) {
    const { shape, size } = weight.read();
    const values = initial.slice(start, start + size);
    tf.tidy(() => void weight.write(tf.tensor(values, shape)));
    start += size;
  }
  return model;
}

/** All weights, trained or not, in the recorded order. */
export function weightsOf(model: LayersModel, name: NetworkName): number[] {
  return orderedWeights(model, name).flatMap((weight) => [...weight.read().dataSync()]);
}

/** A network's layers with weights, in the recorded order. */
export const layerNames = (name: NetworkName): readonly string[] => networks[name].layerNames;

function orderedWeights(model: LayersModel, name: NetworkName) {
  return layerNames(name).flatMap((layer) => model.getLayer(layer).weights);
}

/** The task of a network: its loss, unless a run fixes the variance. */
export const taskFor = (name: NetworkName) =>
  taskOf(name === 'heads' ? 'heteroscedastic-regression' : 'classification');

/** The loss of the run's members. */
export function lossOf(run: RecordedRun): LossFunction {
  if (run.network === 'heads') {
    const loss = heldLoss(run);
    return (outputs, targets, { step }) => loss({ outputs, targets, step });
  }
  const task = taskFor(run.network);
  return (outputs, targets, { scalars }) => {
    const softening = { labelSmoothing: 0, temperature: 1, ...run.config.loss, ...Object.fromEntries(scalars ?? []) };
    return task.loss(outputs, targets, softening);
  };
}

/**
 * A project's loss that fixes the variance at ¼ for a while, or in incomplete batches. Then it does not depend on that
 * head.
 */
export const heldLoss =
  ({ hold, config }: RecordedRun) =>
  ({
    outputs: [mean, variance],
    targets,
    step,
  }: Pick<LossContext<unknown>, 'outputs' | 'targets' | 'step'>): Scalar => {
    const holds = step < hold.untilStep || (hold.partialBatches && mean.shape[0] !== config.batchSize);
    return gaussianNllLoss(mean, holds ? tf.fill(variance.shape, 0.25) : variance, targets);
  };
