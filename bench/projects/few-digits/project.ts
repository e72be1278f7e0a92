import { defineProject, flattened, Generator, mnist, splitDataset, tf, z } from 'tutti-ensembles';

/** 2,000 images of MNIST's test files to train on, 3,000 to choose members by, 5,000 to judge them. */
export default defineProject({
  name: 'Few digits',
  description: 'A small network with dropout and batch normalization, whose weights are kept after each epoch.',
  task: 'classification',
  // To download the images.
  permissions: { network: true },
  hyperparameters: z.object({}),
  defaults: {
    members: 5,
    batchSize: 50,
    maxEpochs: 60,
    optimizer: { kind: 'sgd', learningRate: 0.05, momentum: 0.9 },
    checkpoints: { everyEpochs: 1 },
  },

  async data({ folders, seed }) {
    const { train } = await mnist({ ...folders, files: 't10k' });
    return splitDataset(flattened(train), { validation: 3000, test: 5000 }, new Generator(seed, 'split'));
  },

  model({ featureShape, targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.dense({ units: 128, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.batchNormalization(),
        tf.layers.dropout({ rate: 0.3 }),
        tf.layers.dense({ units: 128, activation: 'relu' }),
        tf.layers.dropout({ rate: 0.3 }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});
