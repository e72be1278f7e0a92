import { createDataset, defineProject, Generator, splitDataset, tf, z } from 'tutti-ensembles';

/** Counts around a rate of 1 or 4. */
export default defineProject({
  name: 'Counts',
  description: 'Counts whose rate depends on one number.',
  task: 'poisson-regression',
  hyperparameters: z.object({}),
  defaults: { maxEpochs: 15, batchSize: 20, logEverySteps: 5, optimizer: { kind: 'adam', learningRate: 0.1 } },

  data({ seed }) {
    // Beside 0 the counts are 0, 1 and 2: a rate of 1. Beside 1 they are 3, 4 and 5: a rate of 4.
    const features = Float32Array.from({ length: 300 }, (_, n) => n % 2);
    const targets = features.map((value, n) => (value === 0 ? 0 : 3) + (n % 3));
    const counts = createDataset({ name: 'counts', featureShape: [1], features, targets });
    return splitDataset(counts, { validation: 0.25, test: 0.25 }, new Generator(seed, 'split'));
  },

  model({ targetSize }) {
    return tf.sequential({ layers: [tf.layers.dense({ units: targetSize, inputShape: [1] })] });
  },
});
