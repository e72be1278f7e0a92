import { type LayersModel, type SymbolicTensor, tf } from 'tutti-ensembles';

export interface NetworkOptions {
  featureShape: readonly number[];
  classes: number;
  /** One seed for each expert. The same seed gives the same initial weights in any process. */
  seeds: readonly number[];
}

/**
 * The post's network as an expert: two 3x3 convolutions of stride 2 with 20 and 40 filters, the mean over the image, 20
 * units, K logits; ReLU throughout. Several experts predict the mean of their logits: a product of experts in one
 * computational graph.
 */
export function createNetwork({ featureShape, classes, seeds }: NetworkOptions): LayersModel {
  const input = tf.input({ shape: [...featureShape] });
  const logits = seeds.map((seed) => expertLogits(input, classes, seed));
  const outputs = logits.length === 1 ? logits : tf.layers.average().apply(logits);
  return tf.model({ inputs: input, outputs: outputs as SymbolicTensor });
}

function expertLogits(input: SymbolicTensor, classes: number, seed: number): SymbolicTensor {
  const convolution = (filters: number, layer: number) =>
    tf.layers.conv2d({
      filters,
      kernelSize: 3,
      strides: 2,
      activation: 'relu',
      kernelInitializer: uniform(seed, layer),
    });
  const layers = [
    convolution(20, 0),
    convolution(40, 1),
    tf.layers.globalAveragePooling2d({ dataFormat: 'channelsLast' }),
    tf.layers.dense({ units: 20, activation: 'relu', kernelInitializer: uniform(seed, 2) }),
    tf.layers.dense({ units: classes, kernelInitializer: uniform(seed, 3) }),
  ];
  return layers.reduce((tensor, layer) => layer.apply(tensor) as SymbolicTensor, input);
}

/** Uniform in ±1/√(inputs), PyTorch's initialization. */
function uniform(seed: number, layer: number) {
  return tf.initializers.varianceScaling({
    scale: 1 / 3,
    mode: 'fanIn',
    distribution: 'uniform',
    seed: 4 * seed + layer,
  });
}
