import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { tf, type LayersModel, type Scalar, type Tensor, type Variable } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('cpu')));

const { layers } = tf;

describe('options of layers that TensorFlow.js ignores', () => {
  it.each(['dense', 'lstm', 'gru', 'conv2d'] as const)('activityRegularizer is refused by name: %s', (kind) => {
    const create = layers[kind] as (options: object) => unknown;
    const activityRegularizer = tf.regularizers.l1({ l1: 1 });
    const create1 = () => create({ units: 2, filters: 2, kernelSize: 1, activityRegularizer });
    expect(create1).toThrow(/^tf\.layers\.\w+ has no activityRegularizer in TensorFlow\.js .* Make the layer's output/);
  });

  it('dilationRate of transposed convolutions is refused', () => {
    const create = () => layers.conv2dTranspose({ filters: 1, kernelSize: 2, dilationRate: 2 });
    expect(create).toThrow('tf.layers.conv2dTranspose has no dilationRate in TensorFlow.js (given: 2).');
  });

  it('separableConv2d uses both initializers, not the depthwise one twice', () => {
    const layer = layers.separableConv2d({
      filters: 2,
      kernelSize: 1,
      inputShape: [2, 2, 1],
      depthwiseInitializer: 'ones',
      pointwiseInitializer: tf.initializers.constant({ value: 3 }),
    });
    const [depthwise, pointwise] = tf.sequential({ layers: [layer] }).getWeights();
    expect([...depthwise.dataSync()]).toEqual([1]);
    expect([...pointwise.dataSync()]).toEqual([3, 3]);
  });

  it('a model file keeps the alpha of an ELU layer and the axis of a softmax layer', async () => {
    const model = tf.sequential({
      layers: [layers.elu({ alpha: 0.25, inputShape: [2, 3] }), layers.softmax({ axis: 1 })],
    });
    const copy = await tf.models.modelFromJSON(model.toJSON(null, false) as never);
    const x = tf.tensor([
      [
        [1, -2, 3],
        [-4, 5, -6],
      ],
    ]);
    const [expected, found] = [model, copy].map((of) => (of.predict(x) as Tensor).dataSync());
    expect(found).toEqual(expected);
    // exp(1) / (exp(1) + exp(0.25 (exp(-4) - 1)))
    expect(found[0]).toBeCloseTo(Math.E / (Math.E + Math.exp(0.25 * (Math.exp(-4) - 1))), 6);
  });
});

describe('masking after a trained layer', () => {
  /** Sequences of two steps. A dense layer makes the second step 0: [x, 0] · W. */
  function lossAndGradient(model: LayersModel, values: number[]) {
    const x = tf.tensor(values, [1, 2, 1]);
    const weights = model.trainableWeights.map((weight) => weight.read() as Variable);
    const { value, grads } = tf.variableGrads(
      () => tf.sum(model.apply(x, { training: true }) as Tensor) as Scalar,
      weights,
    );
    return { loss: value.dataSync()[0], gradient: grads[weights[0].name].dataSync()[0] };
  }

  it('uses the gradient of the unmasked part: y = 3x where it is not 3, d/dw = x', () => {
    const dense = layers.dense({
      units: 1,
      useBias: false,
      inputShape: [2, 1],
      kernelInitializer: tf.initializers.constant({ value: 3 }),
    });
    const model = tf.sequential({ layers: [dense, layers.masking({ maskValue: 3 })] });
    expect(lossAndGradient(model, [2, 1])).toEqual({ loss: 6, gradient: 2 });
  });

  it('lets a recurrent layer skip masked steps: with unit weights h = tanh(x w) after one of two', () => {
    const model = tf.sequential({
      layers: [
        layers.dense({ units: 1, useBias: false, inputShape: [2, 1], kernelInitializer: 'ones' }),
        layers.masking({ maskValue: 0 }),
        layers.simpleRNN({ units: 1, kernelInitializer: 'ones', recurrentInitializer: 'ones' }),
      ],
    });
    const { loss, gradient } = lossAndGradient(model, [0.5, 0]);
    expect(loss).toBeCloseTo(Math.tanh(0.5), 6);
    expect(gradient).toBeCloseTo(0.5 * (1 - Math.tanh(0.5) ** 2), 6);
  });
});
