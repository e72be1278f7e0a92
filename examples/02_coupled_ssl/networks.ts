import { type LayersModel, type SymbolicTensor, tf } from 'tutti-ensembles';

export interface NetworkOptions {
  featureShape: readonly number[];
  classes: number;
}

/**
 * Three 3x3 convolutions of stride 2 with 16, 32 and 64 filters, the mean over the image, K logits: small enough for a
 * CPU.
 */
export function smallNetwork({ featureShape, classes }: NetworkOptions): LayersModel {
  const convolution = (filters: number, inputShape?: number[]) =>
    tf.layers.conv2d({
      filters,
      kernelSize: 3,
      strides: 2,
      padding: 'same',
      activation: 'relu',
      kernelInitializer: 'heNormal',
      ...(inputShape && { inputShape }),
    });
  return tf.sequential({
    layers: [
      convolution(16, [...featureShape]),
      convolution(32),
      convolution(64),
      tf.layers.globalAveragePooling2d({ dataFormat: 'channelsLast' }),
      tf.layers.dense({ units: classes }),
    ],
  });
}

/**
 * ResNet-18 for images of 32 x 32 pixels: a 3x3 convolution, then four stages of two blocks with 64, 128, 256 and 512
 * filters (He et al., 2016, "Deep residual learning for image recognition", sections 3.3 and 4.2).
 */
export function resNet18({ featureShape, classes }: NetworkOptions): LayersModel {
  const input = tf.input({ shape: [...featureShape] });
  let features = normalized(convolved(input, 64, 3, 1));
  for (const [stage, filters] of [64, 128, 256, 512].entries()) {
    features = residualBlock(features, filters, stage === 0 ? 1 : 2);
    features = residualBlock(features, filters, 1);
  }
  const pooled = tf.layers.globalAveragePooling2d({ dataFormat: 'channelsLast' }).apply(features);
  return tf.model({ inputs: input, outputs: tf.layers.dense({ units: classes }).apply(pooled) as SymbolicTensor });
}

/** relu(x + F(x)), where F is two convolutions. If the shape changes, x passes a 1x1 convolution. */
function residualBlock(input: SymbolicTensor, filters: number, strides: number): SymbolicTensor {
  const inner = normalized(convolved(input, filters, 3, strides));
  const outer = batchNorm(convolved(inner, filters, 3, 1));
  const isSameShape = strides === 1 && input.shape.at(-1) === filters;
  const shortcut = isSameShape ? input : batchNorm(convolved(input, filters, 1, strides));
  return relu(tf.layers.add().apply([outer, shortcut]) as SymbolicTensor);
}

function convolved(input: SymbolicTensor, filters: number, kernelSize: number, strides: number): SymbolicTensor {
  const options = { filters, kernelSize, strides, padding: 'same' as const, useBias: false };
  return tf.layers.conv2d({ ...options, kernelInitializer: 'heNormal' }).apply(input) as SymbolicTensor;
}

function batchNorm(input: SymbolicTensor): SymbolicTensor {
  return tf.layers.batchNormalization({ momentum: 0.9, epsilon: 1e-5 }).apply(input) as SymbolicTensor;
}

function relu(input: SymbolicTensor): SymbolicTensor {
  return tf.layers.reLU().apply(input) as SymbolicTensor;
}

function normalized(input: SymbolicTensor): SymbolicTensor {
  return relu(batchNorm(input));
}
