import { defineProject, flattened, Generator, mnist, splitDataset, tf, z } from 'tutti-ensembles';

/** 1,200 images of MNIST's test files: 600 to train on, 200 to validate, 400 to test. */
export default defineProject({
  name: 'Digits',
  description: 'MNIST t10k with a small MLP.',
  task: 'classification',
  hyperparameters: z.object({ hiddenUnits: z.int().min(1).default(64) }),
  defaults: { batchSize: 50, maxEpochs: 15, optimizer: { kind: 'adam', learningRate: 0.003 } },

  async data({ folders, seed }) {
    const { train } = await mnist({ ...folders, files: 't10k' });
    return splitDataset(flattened(train), { validation: 200, test: 400 }, new Generator(seed, 'split'));
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
