import { defineProject, flattened, Generator, mnist, splitDataset, tf, z } from 'tutti';

/** The 10,000 images of MNIST's test files as a data set of its own: 8,000 to train on, 1,000 each to validate and test. */
export default defineProject({
  name: 'Digits',
  description: 'MNIST t10k with a small MLP.',
  task: 'classification',
  hyperparameters: z.object({ hiddenUnits: z.int().min(1).default(32) }),
  defaults: { batchSize: 100, maxEpochs: 6, optimizer: { kind: 'adam', learningRate: 0.003 } },

  async data({ folders, seed }) {
    const { train } = await mnist({ ...folders, files: 't10k' });
    return splitDataset(flattened(train), { validation: 1000, test: 1000 }, new Generator(seed, 'split'));
  },

  model({ hyperparameters: { hiddenUnits }, featureShape, targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.dense({ units: hiddenUnits, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});
