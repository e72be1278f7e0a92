import {
  createDataset,
  type Dataset,
  defineProject,
  Generator,
  splitDataset,
  standardize,
  type SymbolicTensor,
  tf,
  z,
} from 'tutti-ensembles';

const samples = 1_599;
const measurements = 11;

/**
 * The network for the quality of red wines (`bench/projects/wine`), on drawn data of the same size, which need no
 * download.
 */
export default defineProject({
  name: 'Wine-like',
  description: 'A small network for as many drawn samples as UCI has red wines.',
  task: 'heteroscedastic-regression',
  hyperparameters: z.object({ units: z.int().min(1).default(50) }),
  defaults: { members: 1, optimizer: { kind: 'adam', learningRate: 0.005 }, batchSize: 32, maxEpochs: 40 },

  data({ seed }) {
    const parts = splitDataset(drawnTable(), { validation: 0.25, test: 0.25 }, new Generator(seed, 'split'));
    return Promise.resolve(standardize(parts, { targets: true }).splits);
  },

  model({ featureShape, hyperparameters: { units } }) {
    const inputs = tf.input({ shape: [...featureShape] });
    const hidden = tf.layers.dense({ units, activation: 'relu' }).apply(inputs);
    const [mean, variance] = (['linear', 'softplus'] as const).map(
      (activation) => tf.layers.dense({ units: 1, activation }).apply(hidden) as SymbolicTensor,
    );
    return tf.model({ inputs, outputs: [mean, variance] });
  },
});

/** Measurements that depend on each other, and grades from 3 to 8 that depend on some of them. */
function drawnTable(): Dataset {
  const draws = new Generator(0, 'wine-like');
  const features = new Float32Array(samples * measurements);
  const targets = new Float32Array(samples);
  for (let row = 0; row < samples; row++) {
    const common = draws.normal();
    const own = Array.from({ length: measurements }, () => 0.5 * common + draws.normal());
    features.set(own, row * measurements);
    const grade = 5.6 + 0.5 * own[10] - 0.4 * own[1] + 0.2 * own[9] * own[0] + 0.6 * draws.normal();
    targets[row] = Math.min(8, Math.max(3, Math.round(grade)));
  }
  return createDataset({ name: 'drawn wines', features, featureShape: [measurements], targets });
}
