import {
  createDataset,
  type Dataset,
  defineProject,
  Generator,
  splitDataset,
  standardize,
  type SymbolicTensor,
  tf,
  uciTable,
  z,
} from 'tutti-ensembles';

/**
 * The quality of red wines from eleven measurements. Wines whose measurements are those of different wines are outside
 * the training data.
 */
export default defineProject({
  name: 'Wine',
  description: 'The quality of red wines (UCI), and wines with the measurements of several others.',
  task: 'heteroscedastic-regression',
  hyperparameters: z.object({}),
  defaults: { members: 5, optimizer: { kind: 'adam', learningRate: 0.005 }, batchSize: 32, maxEpochs: 40 },

  async data({ folders, seed }) {
    const table = await uciTable('wine', folders);
    const parts = splitDataset(table, { validation: 0.25, test: 0.25 }, new Generator(seed, 'split'));
    const { splits } = standardize(parts, { targets: true });
    const others = { 'mixed measurements': () => shuffledColumns(splits.test ?? splits.train, seed) };
    return { ...splits, outOfDistribution: others };
  },

  model({ featureShape }) {
    const measurements = tf.input({ shape: [...featureShape] });
    const hidden = tf.layers.dense({ units: 50, activation: 'relu' }).apply(measurements);
    const [mean, variance] = (['linear', 'softplus'] as const).map(
      (activation) => tf.layers.dense({ units: 1, activation }).apply(hidden) as SymbolicTensor,
    );
    return tf.model({ inputs: measurements, outputs: [mean, variance] });
  },
});

/** Each column in an order of its own. */
function shuffledColumns(dataset: Dataset, seed: number): Dataset {
  const [columns] = dataset.featureShape;
  const features = Float32Array.from(dataset.features);
  for (let column = 0; column < columns; column++) {
    const order = new Generator(seed, `column ${column}`).permutation(dataset.length);
    order.forEach((from, row) => (features[row * columns + column] = dataset.features[from * columns + column]));
  }
  return createDataset({ ...dataset, name: 'mixed measurements', features });
}
