import { defineProject, standardize, tf, uciTable, z } from 'tutti-ensembles';
import { publishedSplit } from './split.ts';

/**
 * Regression on small tables, with which `tutti search` looks for the weight decay that suits an ensemble, or its
 * members.
 */
export default defineProject({
  name: 'Weight decay of an ensemble',
  description:
    'Which weight decay is best for an ensemble, and which for its members? Quality of red wines and other UCI tables.',
  task: 'regression',

  hyperparameters: z.object({
    table: z
      .enum(['concrete', 'energy', 'kin8nm', 'power', 'wine', 'yacht'])
      .default('wine')
      .meta({ help: 'UCI table; wine is downloaded if it is missing.' }),
    split: z.int().min(0).max(0xffffffff).default(0).meta({ help: 'Which 80 % of the table train; 20 % validate.' }),
    units: z.int().min(1).default(128).meta({ help: 'Units of each hidden layer.', unit: 'units' }),
    layers: z.int().min(1).default(2).meta({ help: 'Hidden layers.', unit: 'layers' }),
  }),
  search: { 'optimizer.weightDecay': { kind: 'log', low: 1e-5, high: 30 } },
  defaults: {
    members: 8,
    membersPerDevice: 8,
    devices: 1,
    maxEpochs: 400,
    batchSize: 32,
    optimizer: { kind: 'adamw', learningRate: 0.003 },
  },

  async data({ hyperparameters: { table, split }, folders }) {
    const splits = publishedSplit(await uciTable(table, folders), split);
    return standardize(splits, { targets: true }).splits;
  },

  model({ hyperparameters: { units, layers }, featureShape, targetSize }) {
    const [features] = featureShape;
    return tf.sequential({
      layers: Array.from({ length: layers + 1 }, (_, layer) => {
        const inputs = layer === 0 ? features : units;
        const bound = 1 / Math.sqrt(inputs);
        const uniform = () => tf.initializers.randomUniform({ minval: -bound, maxval: bound });
        return tf.layers.dense({
          units: layer < layers ? units : targetSize,
          activation: layer < layers ? 'tanh' : 'linear',
          // As PyTorch's Linear begins.
          kernelInitializer: uniform(),
          biasInitializer: uniform(),
          inputShape: [inputs],
        });
      }),
    });
  },
});
