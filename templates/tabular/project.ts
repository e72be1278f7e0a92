import { join } from 'node:path';
import { defineProject, readTable, tableSplits, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: 'My table',
  description: 'Predicts the variety of a plant from its measures in plants.csv.',
  task: 'classification',
  hyperparameters: z.object({ width: z.int().min(1).default(32).meta({ help: 'Units of each hidden layer.' }) }),
  defaults: { members: 4, maxEpochs: 30, batchSize: 32, optimizer: { kind: 'adam', learningRate: 0.01 } },

  async data({ seed }) {
    const plants = await readTable(join(import.meta.dirname, 'plants.csv'));
    return tableSplits(plants, { seed, target: 'variety', missing: 'impute', validation: 0.2, test: 0.2 });
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
