import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { requireUsedMasks } from '../../../workers/session/preparation/require-used-masks.ts';
import { type LayersModel, type SymbolicTensor, tf, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { modelFile, runOnnx } from '../onnx/run-onnx.ts';

beforeAll(async () => void (await startBackend('cpu')));

const { layers } = tf;
type Layer = LayersModel['layers'][number];
const sequential = (...own: Layer[]): LayersModel => tf.sequential({ layers: own });
/** Id i has the vector [i, 10 i]. */
function words(maskZero = true): Layer {
  const layer = layers.embedding({ inputDim: 6, outputDim: 2, inputLength: 4, maskZero, name: 'words' });
  layer.build([null, 4]);
  layer.setWeights([tf.tensor2d([0, 1, 2, 3, 4, 5].map((id) => [id, 10 * id]))]);
  return layer;
}
const ids = () =>
  tf.tensor2d([
    [1, 3, 0, 0],
    [5, 0, 1, 0],
    [2, 2, 2, 2],
    [0, 0, 0, 0],
  ]);
const valuesOf = (output: unknown): number[] => [...(output as Tensor).dataSync()];

describe('globalAveragePooling1d', () => {
  it('averages the steps that the mask counts, as Keras does; 0 where it counts none', () => {
    const model = sequential(words(), layers.globalAveragePooling1d({}));
    expect(valuesOf(model.predict(ids()))).toEqual([2, 20, 3, 30, 2, 20, 0, 0]);
    const plain = sequential(words(false), layers.globalAveragePooling1d({}));
    expect(valuesOf(plain.predict(ids()))).toEqual([1, 10, 1.5, 15, 2, 20, 0, 0]);
  });

  it('has the gradient of that mean', () => {
    const pool = layers.globalAveragePooling1d({});
    const mask = tf.tensor2d([[1, 0, 1, 0]], [1, 4], 'bool');
    const gradient = tf.grad((x) => tf.sum(pool.apply(x, { mask }) as Tensor));
    expect(valuesOf(gradient(tf.ones([1, 4, 2])))).toEqual([0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0]);
  });

  it('averages values of which masking leaves some out, also after layers that pass masks on', () => {
    const model = sequential(
      layers.masking({ inputShape: [3, 1], maskValue: -1 }),
      layers.dense({ units: 1, kernelInitializer: 'ones', biasInitializer: 'ones' }),
      layers.leakyReLU({}),
      layers.globalAveragePooling1d({}),
    );
    requireUsedMasks(model);
    expect(valuesOf(model.predict(tf.tensor3d([[[2], [-1], [4]]])))).toEqual([4]);
  });

  it('is written to ONNX with the mask', async () => {
    const model = sequential(words(), layers.globalAveragePooling1d({}));
    const { y0 } = await runOnnx(modelFile(model), { x0: { shape: [4, 4], data: ids().dataSync<'float32'>() } });
    expect([...y0.data]).toEqual([2, 20, 3, 30, 2, 20, 0, 0]);
  });
});

describe('two masked sequences', () => {
  function both(merge: Layer, pool: Layer): LayersModel {
    const [first, second] = [tf.input({ shape: [4] }), tf.input({ shape: [4] })];
    const read = words();
    const merged = merge.apply([read.apply(first), read.apply(second)] as SymbolicTensor[]) as SymbolicTensor;
    return tf.model({ inputs: [first, second], outputs: pool.apply(merged) as SymbolicTensor });
  }
  const other = () =>
    tf.tensor2d([
      [1, 1, 1, 0],
      [1, 1, 0, 0],
      [1, 0, 0, 0],
      [1, 1, 1, 1],
    ]);

  it('are added, and a layer after that gets the steps that count in both, for any number of samples', () => {
    const model = both(layers.add(), layers.globalAveragePooling1d({}));
    requireUsedMasks(model);
    // Steps 0 and 1; step 0; step 0; none.
    expect(valuesOf(model.predict([ids(), other()]))).toEqual([3, 30, 6, 60, 3, 30, 0, 0]);
    const recurrent = both(layers.average(), layers.lstm({ units: 3 }));
    expect((recurrent.predict([ids(), other()]) as Tensor).shape).toEqual([4, 3]);
  });

  it('three of them too, where one has no mask', () => {
    const inputs = [0, 1, 2].map(() => tf.input({ shape: [4] }));
    const [read, whole] = [words(), layers.embedding({ inputDim: 6, outputDim: 2, embeddingsInitializer: 'zeros' })];
    const values = inputs.map((input, i) => (i === 0 ? whole : read).apply(input) as SymbolicTensor);
    const merged = layers.add().apply(values) as SymbolicTensor;
    const outputs = layers.globalAveragePooling1d({}).apply(merged) as SymbolicTensor;
    const model = tf.model({ inputs, outputs });
    requireUsedMasks(model);
    expect(valuesOf(model.predict([ids(), ids(), other()]))).toEqual([3, 30, 6, 60, 3, 30, 0, 0]);
  });
});

describe('a model', () => {
  it.each<[string, Layer[]]>([
    ['globalMaxPooling1d', [layers.globalMaxPooling1d({})]],
    ['averagePooling1d', [layers.averagePooling1d({})]],
    ['conv1d', [layers.dropout({ rate: 0.1 }), layers.conv1d({ filters: 1, kernelSize: 2 })]],
    ['flatten', [layers.lstm({ units: 2, returnSequences: true }), layers.flatten()]],
    ['batchNormalization', [layers.batchNormalization({})]],
    ['softmax', [layers.softmax({})]],
  ])('is refused where a layer ignores the mask of its input: %s', (_, own) => {
    const last = own.at(-1);
    expect(() => requireUsedMasks(sequential(words(), ...own))).toThrow(
      `The model's layer "${last?.name}" (${last?.getClassName()}) gets steps that the mask of "words" leaves out`,
    );
    expect(() => requireUsedMasks(sequential(words(false), ...own))).not.toThrow();
  });

  it('is refused where a mask would reach a layer whose input has none, or not leave a nested model', () => {
    const [text, steps] = [tf.input({ shape: [4] }), tf.input({ shape: [4, 2] })];
    const read = layers.lstm({ units: 2 }).apply(words().apply(text)) as SymbolicTensor;
    const mean = layers.globalAveragePooling1d({ name: 'mean' }).apply(steps) as SymbolicTensor;
    const outputs = layers.concatenate().apply([mean, read]) as SymbolicTensor;
    expect(() => requireUsedMasks(tf.model({ inputs: [text, steps], outputs }))).toThrow(
      'The model\'s layer "mean" (GlobalAveragePooling1D) would compute with the mask of ' +
        '"words", but its input has none',
    );
    const inner = tf.sequential({ layers: [words()], name: 'inner' });
    const input = tf.input({ shape: [4] });
    const last = layers.lstm({ units: 2 }).apply(inner.apply(input)) as SymbolicTensor;
    expect(() => requireUsedMasks(tf.model({ inputs: input, outputs: last }))).toThrow(
      'The model\'s layer "inner" is a model whose output has the mask of "words"',
    );
    const each = layers.timeDistributed({
      layer: layers.embedding({ inputDim: 6, outputDim: 2, maskZero: true, name: 'letters' }),
      inputShape: [3, 4],
    });
    expect(() => requireUsedMasks(sequential(each))).toThrow('the mask of "letters"');
  });

  it('may have masks that recurrent layers, merges and nested models obey', () => {
    const nested = tf.sequential({ layers: [words(), layers.gru({ units: 2 })] });
    const input = tf.input({ shape: [4] });
    const answer = layers.dense({ units: 1 }).apply(nested.apply(input)) as SymbolicTensor;
    expect(() => requireUsedMasks(tf.model({ inputs: input, outputs: answer }))).not.toThrow();
    const long = sequential(
      words(),
      layers.elu({}),
      layers.bidirectional({ layer: layers.gru({ units: 2, returnSequences: true }) }),
      layers.layerNormalization(),
      layers.timeDistributed({ layer: layers.dense({ units: 2 }) }),
      layers.globalAveragePooling1d({}),
    );
    expect(() => requireUsedMasks(long)).not.toThrow();
    const [text, other] = [tf.input({ shape: [4] }), tf.input({ shape: [4] })];
    const read = layers.gru({ units: 2 }).apply(words().apply(text)) as SymbolicTensor;
    const known = layers
      .concatenate()
      .apply([
        layers.embedding({ inputDim: 6, outputDim: 2 }).apply(other) as SymbolicTensor,
        layers.repeatVector({ n: 4 }).apply(read) as SymbolicTensor,
      ]);
    const outputs = layers.gru({ units: 2, returnSequences: true }).apply(known) as SymbolicTensor;
    expect(() => requireUsedMasks(tf.model({ inputs: [text, other], outputs }))).not.toThrow();
  });
});
