import { tf, type Tensor } from '../../../../../workers/tensorflow/tf.ts';
import type { LayerName, LayerOptions } from '../../../../reference/layers.ts';

/** A layer of TensorFlow.js with options, and whether it trains. */
export interface LayerCall {
  readonly name: LayerName;
  readonly options: LayerOptions;
  /** How many of its inputs are values. The others are weights. */
  readonly values: number;
}

type Layer = ReturnType<typeof tf.layers.dense>;
type LayerFactory = (options: object) => unknown;

/** Options that initialize weights with zero. Drawing them, only to replace them, would take longer than the case. */
function zeroInitializers(name: string): object {
  const kernel = { kernelInitializer: 'zeros' };
  if (name === 'separableConv2d') return { depthwiseInitializer: 'zeros', pointwiseInitializer: 'zeros' };
  if (name === 'depthwiseConv2d') return { depthwiseInitializer: 'zeros' };
  if (['simpleRNN', 'lstm', 'gru'].includes(name)) return { ...kernel, recurrentInitializer: 'zeros' };
  return name === 'dense' || name.startsWith('conv') ? kernel : {};
}

function create(name: string, options: LayerOptions): Layer {
  const { ids: _, training: __, layer, ...own } = options;
  const factory = (tf.layers as unknown as Record<string, LayerFactory>)[name];
  if (layer === undefined) return factory({ ...own, ...zeroInitializers(name) }) as Layer;
  return factory({ layer: create(layer as string, own), mergeMode: 'concat' }) as Layer;
}

/** A new layer, with weights for an input of this shape. */
export function buildLayer(call: LayerCall, inputShape: readonly number[]): Layer {
  const layer = create(call.name, call.options);
  if (call.values > 1) return layer;
  layer.build([...inputShape]);
  layer.built = true;
  return layer;
}

/** Whether the layer normalises by given moments. */
export function isPrediction({ options }: LayerCall): boolean {
  return options.training === false;
}

/** The weights that a case sets: the trained ones, and the moving moments if they are used. */
export function weightsOf(call: LayerCall, layer: Layer): Layer['weights'] {
  return isPrediction(call) ? layer.weights : layer.trainableWeights;
}

/** Shapes of these weights for an input. */
export function weightShapes(call: LayerCall, inputShape: readonly number[]): number[][] {
  return tf.tidy(() => {
    const layer = buildLayer(call, inputShape);
    const shapes = weightsOf(call, layer).map(({ shape }) => shape as number[]);
    for (const weight of layer.weights) weight.dispose();
    return shapes;
  });
}

/** Applies a layer with tensors in place of its variables, so that gradients reach them. */
export function applyLayer(call: LayerCall, inputs: Tensor[]): Tensor {
  const values = valuesOf(call) ?? inputs.slice(0, call.values);
  const layer = buildLayer(call, values[0].shape);
  const variables = weightsOf(call, layer).map((weight, i) => {
    const variable = weight.read();
    Object.assign(weight, { val: inputs[call.values + i] });
    return variable;
  });
  const others = layer.weights
    .filter((weight) => !weightsOf(call, layer).includes(weight))
    .map((weight) => weight.read());
  const y = layer.apply(values.length === 1 ? values[0] : values, { training: !isPrediction(call) }) as Tensor;
  tf.dispose([...variables, ...others]);
  return y;
}

/** The indices that an embedding looks up, or null if inputs are values with a gradient. */
export function valuesOf({ options }: LayerCall): Tensor[] | null {
  return 'ids' in options ? [tf.tensor2d(options.ids as number[][], undefined, 'int32')] : null;
}
