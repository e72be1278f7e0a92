import { defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti-ensembles';

/** An MLP on synthetic data: enough work per step to keep a core busy, and no download. */
export default defineProject({
  name: 'Gaussian blobs',
  description: 'Classes around points on a circle, for benchmarks.',
  task: 'classification',
  hyperparameters: z.object({
    samples: z.int().min(100).default(20_000).meta({ help: 'Samples, of which a tenth are for validation.' }),
    width: z.int().min(1).default(256).meta({ help: 'Units of each of the two hidden layers.' }),
  }),
  defaults: { members: 2, batchSize: 256, maxEpochs: 10 },
  data({ hyperparameters: { samples }, seed }) {
    const blobs = gaussianBlobs({ samples, classes: 10, spread: 1.5, seed });
    return splitDataset(blobs, { validation: 0.1 }, new Generator(seed, 'split'));
  },
  model({ hyperparameters: { width }, featureShape, targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.dense({ units: width, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.dense({ units: width, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});
