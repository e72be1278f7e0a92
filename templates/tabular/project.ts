import { join } from 'node:path';
import { defineProject, Generator, splitDataset, standardize, table, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: 'My table',
  description: 'Predicts the variety of a plant from its measures in plants.csv.',
  task: 'classification',
  hyperparameters: z.object({ width: z.int().min(1).default(32).meta({ help: 'Units of each hidden layer.' }) }),
  defaults: { members: 4, maxEpochs: 30, batchSize: 32, optimizer: { kind: 'adam', learningRate: 0.01 } },

  async data({ seed }) {
    const plants = await table(join(import.meta.dirname, 'plants.csv'), { target: 'variety', targetKind: 'classes' });
    const splits = splitDataset(plants, { validation: 0.2, test: 0.2 }, new Generator(seed, 'split'));
    return standardize(splits).splits;
  },

  model: ({ hyperparameters: { width }, featureShape, targetSize }) =>
    tf.sequential({
      layers: [
        tf.layers.dense({ units: width, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.dense({ units: width, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    }),
});
