import { join } from 'node:path';
import { defineProject, readTable, tableSplits, tf, z } from 'tutti-ensembles';

/** A table with categories and missing values. */
export default defineProject({
  name: 'Passengers',
  description: 'The class of a passenger from a table with categories and missing values.',
  task: 'classification',
  hyperparameters: z.object({}),
  defaults: { members: 2, maxEpochs: 2, batchSize: 8 },

  async data({ seed }) {
    const table = await readTable(join(import.meta.dirname, 'passengers.csv'));
    const sizes = { validation: 0.2, test: 0.2, stratify: true };
    return tableSplits(table, { seed, target: 'class', missing: 'impute', classWeights: 'balanced', ...sizes });
  },

  model({ featureShape, targetSize }) {
    const { dense } = tf.layers;
    const inputShape = [...featureShape];
    return tf.sequential({
      layers: [dense({ units: 8, activation: 'relu', inputShape }), dense({ units: targetSize })],
    });
  },
});
