import { join } from 'node:path';
import { createDataset, defineProject, Generator, readTable, splitDataset, tf, z } from 'tutti-ensembles';

/**
 * Handwritten digits of 8 by 8 pixels: few to learn from, so that each network is too sure of itself, and their
 * ensemble is not.
 */
export default defineProject({
  name: 'Digits',
  description: 'Five small networks that read 1,797 handwritten digits, and what they know together.',
  task: 'classification',
  hyperparameters: z.object({
    hiddenUnits: z.int().min(1).default(16).meta({ help: 'Units of each of the two hidden layers.', unit: 'units' }),
    trained: z.int().min(10).max(1000).default(600).meta({ help: 'Digits to train on.', unit: 'digits' }),
  }),
  defaults: {
    members: 5,
    determinism: 'deterministic',
    optimizer: { kind: 'adam', learningRate: 0.02 },
    batchSize: 32,
    maxEpochs: 40,
  },

  async data({ seed, hyperparameters: { trained } }) {
    const { columns, length } = await readTable(join(import.meta.dirname, 'digits.csv'));
    const values = columns.map((column) => column.values as Float64Array);
    const pixels = Uint8Array.from({ length: 64 * length }, (_, at) =>
      Math.round((values[at % 64][Math.floor(at / 64)] * 255) / 16),
    );
    const digits = createDataset({
      name: 'digits',
      featureShape: [8, 8, 1],
      features: pixels,
      targets: Int32Array.from(values[64]),
      classNames: ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'],
    });
    const rest = length - trained;
    const validation = Math.floor(rest / 3);
    return splitDataset(digits, { validation, test: rest - validation }, new Generator(seed, 'split'));
  },

  model({ hyperparameters: { hiddenUnits: units }, featureShape, targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.flatten({ inputShape: [...featureShape] }),
        tf.layers.dense({ units, activation: 'relu' }),
        tf.layers.dense({ units, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});
