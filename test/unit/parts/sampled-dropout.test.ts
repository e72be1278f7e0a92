import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { weightNames } from '../../../workers/member/weights.ts';
import { sampledTopology } from '../../../workers/parts/draft-members.ts';
import { drawMask, type MaskSource, type SampledDropout } from '../../../workers/tensorflow/layers/sampled-dropout.ts';
import { tf, type LayersModel, type SymbolicTensor, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { isSelfContained, modelFromTopology, topologyOf } from '../../../workers/tensorflow/topology.ts';
import { modelFile, runOnnx } from '../onnx/run-onnx.ts';

beforeAll(() => startBackend('cpu'));

const source: MaskSource = { kind: 'bernoulli', rate: 0.25, noiseShape: null, seed: 7, draw: 0, layer: 0 };
const valuesOf = (tensor: unknown): number[] => [...(tensor as Tensor).dataSync()];

async function draw(model: LayersModel, number = 0): Promise<LayersModel> {
  const drawn = await modelFromTopology(
    sampledTopology(topologyOf(model), { seed: 7, draw: number }, 'a test'),
    'a test',
  );
  drawn.setWeights(model.getWeights());
  return drawn;
}

describe('the mask of a draw', () => {
  it('drops the share of the rate, and scales the rest', () => {
    const { shape, data } = drawMask(source, [null, 100, 100]);
    expect(shape).toEqual([1, 100, 100]);
    expect(new Set(data)).toEqual(new Set([0, Math.fround(4 / 3)]));
    const kept = data.filter((value) => value > 0).length / data.length;
    // Three standard errors of a share of 3/4 of 10,000.
    expect(Math.abs(kept - 0.75)).toBeLessThan(0.013);
  });

  it('has variance rate / (1 − rate) where it is normal', () => {
    const { data } = drawMask({ ...source, kind: 'gaussian' }, [null, 20_000]);
    const mean = data.reduce((sum, value) => sum + value / data.length, 0);
    const variance = data.reduce((sum, value) => sum + (value - mean) ** 2 / data.length, 0);
    expect(mean).toBeCloseTo(1, 1);
    expect(variance).toBeCloseTo(1 / 3, 1);
  });

  it('depends on seed, draw and layer alone', () => {
    const masks = [source, { ...source, seed: 8 }, { ...source, draw: 1 }, { ...source, layer: 1 }];
    const drawn = masks.map((own) => drawMask(own, [null, 64]).data.join());
    expect(new Set(drawn).size).toBe(4);
    expect(drawMask(source, [32, 64]).data.join()).toBe(drawn[0]);
  });

  it('is shared where the noise shape says so, and along sizes that vary', () => {
    expect(drawMask({ ...source, noiseShape: [null, 1, null] }, [null, 5, 3]).shape).toEqual([1, 1, 3]);
    expect(drawMask(source, [null, null, 3]).shape).toEqual([1, 1, 3]);
  });
});

describe('a draw of MC dropout', () => {
  it('has the weights of the model, and multiplies by its masks', async () => {
    const model = tf.sequential({
      layers: [
        tf.layers.dense({ units: 6, inputShape: [3], activation: 'relu' }),
        tf.layers.dropout({ rate: 0.5 }),
        tf.layers.dense({ units: 2 }),
      ],
    });
    const drawn = await draw(model);
    expect(weightNames(drawn)).toEqual(weightNames(model));
    expect(isSelfContained(topologyOf(drawn))).toBe(true);
    const { mask } = drawn.layers[1] as unknown as SampledDropout;
    expect([...mask.data]).toEqual([...drawMask({ ...source, rate: 0.5 }, [null, 6]).data]);

    const x = tf.randomNormal([4, 3], 0, 1, 'float32', 3);
    const hidden = model.layers[0].apply(x) as Tensor;
    const expected = model.layers[2].apply(tf.mul(hidden, tf.tensor(mask.data, mask.shape)));
    expect(valuesOf(drawn.predict(x))).toEqual(valuesOf(expected));
    // A sample's prediction does not depend on those beside it.
    expect(valuesOf(drawn.predict(tf.slice(x, [2, 0], [1, 3])))).toEqual(valuesOf(expected).slice(4, 6));
  });

  it('has on average the prediction of the whole network where that is linear', async () => {
    const dense = tf.layers.dense({ units: 1, kernelInitializer: 'ones' });
    const model = tf.sequential({ layers: [tf.layers.dropout({ rate: 0.5, inputShape: [40] }), dense] });
    const count = 200;
    let sum = 0;
    for (let number = 0; number < count; number++) {
      const drawn = await draw(model, number);
      sum += valuesOf(drawn.predict(tf.ones([1, 40])))[0] / count;
    }
    // One draw has the standard deviation √40.
    expect(Math.abs(sum - 40)).toBeLessThan((3 * Math.sqrt(40)) / Math.sqrt(count));
  });

  it('reaches layers inside of others, and steps of any number', async () => {
    const inner = tf.sequential({
      layers: [tf.layers.dense({ units: 4, inputShape: [2] }), tf.layers.gaussianDropout({ rate: 0.2 })],
    });
    const model = tf.sequential({
      layers: [
        tf.layers.spatialDropout1d({ rate: 0.4, inputShape: [null, 2] }),
        tf.layers.timeDistributed({ layer: inner }),
        tf.layers.timeDistributed({ layer: tf.layers.dropout({ rate: 0.3 }) }),
      ],
    });
    const drawn = await draw(model);
    const text = topologyOf(drawn);
    expect(text.match(/"SampledDropout"/g)).toHaveLength(3);
    expect(text).not.toMatch(/"(Spatial|Gaussian)?Dropout(1D)?"/);
    const steps = tf.tile(tf.randomNormal([1, 1, 2], 0, 1, 'float32', 4), [1, 7, 1]);
    const [first, ...others] = tf.unstack(drawn.predict(steps) as Tensor, 1).map(valuesOf);
    for (const other of others) expect(other).toEqual(first);
  });

  it('has the connections of a functional model, also of one inside of it and of a layer that is called twice', async () => {
    const { dense, dropout, add, gaussianDropout } = tf.layers;
    const innerInput = tf.input({ shape: [4] });
    const innerOutput = gaussianDropout({ rate: 0.3, name: 'noise' }).apply(innerInput) as SymbolicTensor;
    const inner = tf.model({ inputs: innerInput, outputs: innerOutput, name: 'inner' });
    const input = tf.input({ shape: [3] });
    const hidden = dense({ units: 4, activation: 'relu', name: 'hidden' }).apply(input) as SymbolicTensor;
    const drop = dropout({ rate: 0.5, name: 'drop' });
    const [once, twice] = [drop.apply(hidden), drop.apply(inner.apply(hidden))];
    const sum = add().apply([once, twice] as SymbolicTensor[]) as SymbolicTensor;
    const outputs = dense({ units: 2, name: 'answer' }).apply(sum) as SymbolicTensor;
    const model = tf.model({ inputs: input, outputs });
    const drawn = await draw(model);
    expect(weightNames(drawn)).toEqual(weightNames(model));
    const maskOf = (layer: unknown) => {
      const { mask } = layer as SampledDropout;
      return tf.tensor(mask.data, mask.shape);
    };
    const [dropMask, noiseMask] = [
      maskOf(drawn.getLayer('drop')),
      maskOf((drawn.getLayer('inner') as unknown as LayersModel).getLayer('noise')),
    ];
    const x = tf.randomNormal([4, 3], 0, 1, 'float32', 3);
    const h = model.getLayer('hidden').apply(x) as Tensor;
    const expected = tf.add(tf.mul(h, dropMask), tf.mul(tf.mul(h, noiseMask), dropMask));
    const answer = valuesOf(model.getLayer('answer').apply(expected));
    valuesOf(drawn.predict(x)).forEach((value, i) => expect(value).toBeCloseTo(answer[i], 6));
  });

  it('is written to ONNX with its masks', async () => {
    const model = tf.sequential({
      layers: [
        tf.layers.dropout({ rate: 0.5, inputShape: [3, 2] }),
        tf.layers.flatten(),
        tf.layers.dense({ units: 2 }),
      ],
    });
    const drawn = await draw(model);
    const x = tf.randomNormal([4, 3, 2], 0, 1, 'float32', 3);
    const { y0 } = await runOnnx(modelFile(drawn), { x0: { shape: [4, 3, 2], data: x.dataSync<'float32'>() } });
    const expected = valuesOf(drawn.predict(x));
    y0.data.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 5));
  });

  it.each([
    [() => [tf.layers.dense({ units: 1, inputShape: [2] })], 'no dropout layer with a rate between 0 and 1'],
    [() => [tf.layers.dropout({ rate: 0, inputShape: [2] })], 'no dropout layer with a rate between 0 and 1'],
    [
      () => [tf.layers.lstm({ units: 2, recurrentDropout: 0.2, inputShape: [3, 2], name: 'memory' })],
      'layer "memory" (LSTM) with recurrent_dropout 0.2: a recurrent layer draws its masks for its ' +
        'gates inside of each step',
    ],
    [
      () => [tf.layers.alphaDropout({ rate: 0.2, inputShape: [2], name: 'alpha' })],
      'layer "alpha" (AlphaDropout): alpha dropout also adds values.',
    ],
  ])('is refused for a model without masks to draw', async (layers, message) => {
    await expect(draw(tf.sequential({ layers: layers() }))).rejects.toThrow(message);
  });
});
