import type { RuleConfig } from '../../core/protocol/run/optimizer-config.ts';
import type { Batch } from '../../workers/data/dataset.ts';
import { Generator } from '../../workers/random/index.ts';
import { type LayersModel, type SymbolicTensor, tf } from '../../workers/tensorflow/tf.ts';
import { type Task, taskOf } from '../../workers/member/tasks.ts';

/** The networks of the compute suite; `bench/peers/training_step.py` has the same ones in PyTorch. */
export interface TrainingCase {
  model: () => LayersModel;
  task: Task;
  optimizer: RuleConfig;
  batch: () => Batch;
  /** The number of models in a step (default 1), and whether they are one computation. */
  members?: { count: number; isStacked: boolean };
}

export const adam: RuleConfig = {
  kind: 'adam',
  learningRate: 0.001,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
};
const sgd: RuleConfig = { kind: 'sgd', learningRate: 0.01, momentum: 0.9, nesterov: false, weightDecay: 0 };

export const cases: Record<string, TrainingCase> = {
  mlp: {
    model: multilayerPerceptron,
    task: taskOf('classification'),
    optimizer: adam,
    batch: () => images(128, [3072]),
  },
  cnn: { model: smallCnn, task: taskOf('classification'), optimizer: adam, batch: () => images(64, [28, 28, 1]) },
  'two-nets': { model: meanAndVariance, task: taskOf('heteroscedastic-regression'), optimizer: adam, batch: points },
  'resnet-18': {
    model: resNet18,
    task: taskOf('classification'),
    optimizer: sgd,
    batch: () => images(32, [32, 32, 3]),
  },
};

for (const [name, kind, units, inputs] of [
  ['lstm-16', 'lstm', 16, 8],
  ['gru-16', 'gru', 16, 8],
  ['bidirectional-gru-16', 'bidirectional', 16, 8],
  ['lstm-128', 'lstm', 128, 64],
] as const) {
  cases[name] = {
    model: () => recurrent(kind, units, inputs),
    task: taskOf('classification'),
    optimizer: adam,
    batch: () => images(64, [40, inputs]),
  };
}

for (const size of [16, 64]) {
  for (const isStacked of [false, true]) {
    cases[`members-${size}-${isStacked ? 'stacked' : 'alone'}`] = {
      model: smallDense,
      task: taskOf('classification'),
      optimizer: adam,
      batch: () => images(size, [64]),
      members: { count: 8, isStacked },
    };
  }
}

/** A recurrent layer over sequences of 40 steps, then dense to 10 from its last state. */
function recurrent(kind: 'lstm' | 'gru' | 'bidirectional', units: number, inputs: number): LayersModel {
  const inputShape = [40, inputs];
  const options = { units, recurrentActivation: 'sigmoid', inputShape } as const;
  const layers = {
    lstm: () => tf.layers.lstm(options),
    gru: () => tf.layers.gru(options),
    bidirectional: () => tf.layers.bidirectional({ layer: tf.layers.gru(options), mergeMode: 'concat', inputShape }),
  };
  return tf.sequential({ layers: [layers[kind](), tf.layers.dense({ units: 10 })] });
}

/** 64-64-10. */
function smallDense(): LayersModel {
  return tf.sequential({
    layers: [tf.layers.dense({ units: 64, activation: 'relu', inputShape: [64] }), tf.layers.dense({ units: 10 })],
  });
}

/** 3072-512-512-10. */
function multilayerPerceptron(): LayersModel {
  return tf.sequential({
    layers: [
      tf.layers.dense({ units: 512, activation: 'relu', inputShape: [3072] }),
      tf.layers.dense({ units: 512, activation: 'relu' }),
      tf.layers.dense({ units: 10 }),
    ],
  });
}

/** 3 x 3 convolutions to 32 and, with stride 2, 64 channels, then dense to 10. */
function smallCnn(): LayersModel {
  const shared = { kernelSize: 3, padding: 'same', activation: 'relu' } as const;
  return tf.sequential({
    layers: [
      tf.layers.conv2d({ ...shared, filters: 32, inputShape: [28, 28, 1] }),
      tf.layers.conv2d({ ...shared, filters: 64, strides: 2 }),
      tf.layers.flatten(),
      tf.layers.dense({ units: 10 }),
    ],
  });
}

/** Two networks 1-50-1, for mean and variance, as in example 00. */
function meanAndVariance(): LayersModel {
  const x = tf.input({ shape: [1] });
  const net = (activation: 'linear' | 'softplus'): SymbolicTensor => {
    const hidden = tf.layers.dense({ units: 50, activation: 'sigmoid' });
    return tf.layers.dense({ units: 1, activation }).apply(hidden.apply(x)) as SymbolicTensor;
  };
  return tf.model({ inputs: x, outputs: [net('linear'), net('softplus')] });
}

/** ResNet-18 (He et al., 2016) with a 3 x 3 stem and no first pooling, the usual form for CIFAR. */
function resNet18(): LayersModel {
  const input = tf.input({ shape: [32, 32, 3] });
  let x = relu(convolution(input, 64, 3, 1));
  for (const [stage, filters] of [64, 128, 256, 512].entries()) {
    x = basicBlock(x, filters, stage === 0 ? 1 : 2);
    x = basicBlock(x, filters, 1);
  }
  const pooled = tf.layers.globalAveragePooling2d({}).apply(x) as SymbolicTensor;
  return tf.model({ inputs: input, outputs: tf.layers.dense({ units: 10 }).apply(pooled) as SymbolicTensor });
}

function basicBlock(x: SymbolicTensor, filters: number, strides: number): SymbolicTensor {
  const inner = convolution(relu(convolution(x, filters, 3, strides)), filters, 3, 1);
  const shortcut = strides === 1 && x.shape[3] === filters ? x : convolution(x, filters, 1, strides);
  return relu(tf.layers.add().apply([inner, shortcut]) as SymbolicTensor);
}

/** Convolution without bias, then batch normalization. */
function convolution(x: SymbolicTensor, filters: number, kernelSize: number, strides: number): SymbolicTensor {
  const convolved = tf.layers.conv2d({ filters, kernelSize, strides, padding: 'same', useBias: false }).apply(x);
  return tf.layers.batchNormalization().apply(convolved) as SymbolicTensor;
}

function relu(x: SymbolicTensor): SymbolicTensor {
  return tf.layers.reLU().apply(x) as SymbolicTensor;
}

/** Normal values, `[count, ...shape]`, with labels of ten classes. */
export function images(count: number, shape: number[]): Batch {
  const generator = new Generator(1, 'bench');
  const size = shape.reduce((product, axis) => product * axis, count);
  return {
    features: Float32Array.from({ length: size }, () => generator.normal()),
    featureShape: [count, ...shape],
    targets: Int32Array.from({ length: count }, (_, i) => i % 10),
    targetShape: [count],
  };
}

function points(): Batch {
  const x = Float32Array.from({ length: 20 }, (_, i) => i / 2);
  return { features: x, featureShape: [20, 1], targets: x.map((value) => value * Math.sin(value)), targetShape: [20] };
}
