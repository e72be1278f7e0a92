import { join } from 'node:path';
import {
  defineProject,
  readTable,
  seriesOf,
  standardize,
  type SymbolicTensor,
  tf,
  windowSplits,
  z,
} from 'tutti-ensembles';

/** Yearly numbers of sunspots, 1700 to 2008 (SIDC, public domain, as in statsmodels): the next year from the thirty before. */
export default defineProject({
  name: 'Sunspots',
  description: 'A forecast of a series by recurrent layers, with its uncertainty.',
  task: 'heteroscedastic-regression',
  hyperparameters: z.object({ units: z.int().min(1).default(8) }),
  defaults: { members: 2, maxEpochs: 12, batchSize: 32, optimizer: { kind: 'adam', learningRate: 0.01 } },

  async data() {
    const table = await readTable(join(import.meta.dirname, 'sunspots.csv'));
    const series = { ...seriesOf(table, ['sunspots']), length: 30 };
    return standardize(windowSplits(series, { validation: 50, test: 40 }), { targets: true }).splits;
  },

  model({ featureShape, hyperparameters: { units } }) {
    const x = tf.input({ shape: [...featureShape] });
    const state = tf.layers.lstm({ units, recurrentActivation: 'sigmoid' }).apply(x) as SymbolicTensor;
    const head = (name: string, activation: 'linear' | 'softplus') =>
      tf.layers.dense({ units: 1, activation, name }).apply(state) as SymbolicTensor;
    return tf.model({ inputs: x, outputs: [head('mean', 'linear'), head('variance', 'softplus')] });
  },
});
