import { tf, type Tensor } from '../../../../workers/tf.ts';
import { nearestWeights, resizeByWeights } from './resize.ts';
import { opCase, type Draw, type OpCase, type Values } from './op-case.ts';

type Layer = ReturnType<typeof tf.layers.dense>;

/** A layer in training, over random inputs and weights; the gradient is taken of both. */
function layerCase(name: string, draw: (random: Draw) => { input: Values; make: () => unknown }): OpCase {
  return opCase(`layers.${name}`, (random) => {
    const { input, make } = draw(random);
    const layer = built(make() as Layer, input.shape);
    const weights = layer.trainableWeights.map(({ shape }) => random.normal(shape as number[]));
    for (const weight of layer.weights) weight.dispose();
    return {
      inputs: [input, ...weights],
      apply: ([x, ...values]) => applyLayer(make() as Layer, x, values),
    };
  });
}

function built(layer: Layer, inputShape: number[]): Layer {
  layer.build(inputShape);
  layer.built = true;
  return layer;
}

/** Applies a layer with tensors in the place of its variables, so that gradients reach them. */
function applyLayer(layer: Layer, x: Tensor, weights: Tensor[]): Tensor {
  built(layer, x.shape);
  layer.trainableWeights.forEach((weight, i) => {
    weight.dispose();
    Object.assign(weight, { val: weights[i] });
  });
  return layer.apply(x, { training: true }) as Tensor;
}

const image = (random: Draw): Values =>
  random.normal([random.integer(1, 3), random.integer(4, 9), random.integer(4, 9), random.integer(2, 6)]);
const sequence = (random: Draw): Values =>
  random.normal([random.integer(1, 3), random.integer(2, 5), random.integer(1, 6)]);
const vector = (random: Draw): Values => random.normal([random.integer(3, 9), random.integer(1, 20)]);
const activations = ['relu', 'elu', 'selu', 'tanh', 'sigmoid', 'softplus', 'softsign', 'softmax', 'linear'] as const;

function imageLayer(name: string, make: (random: Draw) => () => unknown): OpCase {
  return layerCase(name, (random) => ({ input: image(random), make: make(random) }));
}

function convolutionOptions(random: Draw) {
  return {
    kernelSize: random.integer(1, 3),
    strides: random.integer(1, 2),
    padding: random.pick(['same', 'valid'] as const),
    activation: random.pick(activations),
    kernelInitializer: 'zeros' as const,
  };
}

function recurrentLayer(name: string, make: (units: number, returnSequences: boolean) => unknown): OpCase {
  return layerCase(name, (random) => {
    const [units, returnSequences] = [random.integer(1, 6), random.pick([false, true])];
    return { input: sequence(random), make: () => make(units, returnSequences) };
  });
}

function vectorLayer(name: string, make: () => unknown): OpCase {
  return layerCase(name, (random) => ({ input: vector(random), make }));
}

/** The state's kernel starts at zero here: drawing an orthogonal one, only to replace it, takes longer than the case. */
const recurrent = { recurrentInitializer: 'zeros' as const, kernelInitializer: 'zeros' as const };

const upSampling = opCase('layers.upSampling2d', (random) => {
  const input = image(random);
  const [, height, width] = input.shape;
  return {
    inputs: [input],
    apply: ([x]) => tf.layers.upSampling2d({ size: [2, 3] }).apply(x) as Tensor,
    // tfjs's cpu backend has a wrong gradient.
    reference: ([x]) => resizeByWeights(x, nearestWeights(height, 2 * height), nearestWeights(width, 3 * width)),
  };
});

const embedding = opCase('layers.embedding', (random) => {
  const [words, width] = [random.integer(1, 9), random.integer(1, 6)];
  const batch = random.integer(1, 4);
  const ids = random.integers(batch * 3, words);
  return {
    inputs: [random.normal([words, width])],
    apply: ([table]) =>
      tf.tidy(() => {
        const layer = built(tf.layers.embedding({ inputDim: words, outputDim: width }) as unknown as Layer, [batch, 3]);
        return applyWithIds(layer, tf.tensor2d(ids, [batch, 3], 'int32'), table);
      }),
  };
});

function applyWithIds(layer: Layer, ids: Tensor, table: Tensor): Tensor {
  layer.trainableWeights[0].dispose();
  Object.assign(layer.trainableWeights[0], { val: table });
  return layer.apply(ids) as Tensor;
}

const residual = layerCase('add', (random) => ({ input: image(random), make: () => new ResidualAdd() }));

/** x + relu(x), as the merge layer of a residual network does. */
class ResidualAdd extends tf.layers.Layer {
  static className = 'ResidualAdd';
  override call(inputs: Tensor | Tensor[]): Tensor {
    const x = Array.isArray(inputs) ? inputs[0] : inputs;
    return tf.layers.add().apply([x, tf.relu(x)]) as Tensor;
  }
}

export const layerCases: readonly OpCase[] = [
  layerCase('dense', (random) => {
    const [units, activation] = [random.integer(1, 12), random.pick(activations)];
    return { input: vector(random), make: () => tf.layers.dense({ units, activation, kernelInitializer: 'zeros' }) };
  }),
  imageLayer('conv2d', (random) => {
    const options = { ...convolutionOptions(random), filters: random.integer(1, 9) };
    return () => tf.layers.conv2d(options);
  }),
  imageLayer('depthwiseConv2d', (random) => {
    const options = { ...convolutionOptions(random), depthMultiplier: random.integer(1, 2) };
    return () => tf.layers.depthwiseConv2d({ ...options, depthwiseInitializer: 'zeros' });
  }),
  imageLayer('separableConv2d', (random) => {
    const { kernelInitializer: _, ...options } = convolutionOptions(random);
    const filters = random.integer(1, 9);
    return () => tf.layers.separableConv2d({ ...options, filters });
  }),
  imageLayer('conv2dTranspose', (random) => {
    const options = { ...convolutionOptions(random), filters: random.integer(1, 9) };
    return () => tf.layers.conv2dTranspose(options);
  }),
  layerCase('conv1d', (random) => {
    const options = { ...convolutionOptions(random), kernelSize: 1, filters: random.integer(1, 9) };
    return { input: sequence(random), make: () => tf.layers.conv1d(options) };
  }),
  imageLayer('maxPooling2d', () => () => tf.layers.maxPooling2d({ poolSize: 2 })),
  imageLayer('averagePooling2d', () => () => tf.layers.averagePooling2d({ poolSize: 3, strides: 2, padding: 'same' })),
  imageLayer('globalMaxPooling2d', () => () => tf.layers.globalMaxPooling2d({})),
  imageLayer('globalAveragePooling2d', () => () => tf.layers.globalAveragePooling2d({})),
  imageLayer('batchNormalization', () => () => tf.layers.batchNormalization()),
  layerCase('batchNormalization, dense', (random) => ({
    input: vector(random),
    make: () => tf.layers.batchNormalization(),
  })),
  imageLayer('layerNormalization', () => () => tf.layers.layerNormalization()),
  vectorLayer('dropout', () => tf.layers.dropout({ rate: 0.5, seed: 3 })),
  upSampling,
  imageLayer('zeroPadding2d', () => () => tf.layers.zeroPadding2d({ padding: 1 })),
  imageLayer('flatten', () => () => tf.layers.flatten()),
  residual,
  embedding,
  recurrentLayer('simpleRNN', (units, returnSequences) =>
    tf.layers.simpleRNN({ units, returnSequences, ...recurrent }),
  ),
  recurrentLayer('lstm', (units, returnSequences) => tf.layers.lstm({ units, returnSequences, ...recurrent })),
  recurrentLayer('gru', (units, returnSequences) => tf.layers.gru({ units, returnSequences, ...recurrent })),
  vectorLayer('leakyReLU', () => tf.layers.leakyReLU({ alpha: 0.1 })),
  vectorLayer('prelu', () => tf.layers.prelu()),
  vectorLayer('elu', () => tf.layers.elu()),
  vectorLayer('softmax', () => tf.layers.softmax()),
];
