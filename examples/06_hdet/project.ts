import { createSplits, defineProject, flattened, Generator, mnist, splitDataset, tf, z } from 'tutti-ensembles';

/**
 * A small network on the 10,000 test images of MNIST, with a learning rate that is too high for plain training: see the
 * README.
 */
export default defineProject({
  name: 'HDET',
  description: 'One network, trained by ranks with different learning rates that are averaged and adapted.',
  task: 'classification',
  // To download the images.
  permissions: { network: true },
  hyperparameters: z.object({
    width: z.int().min(1).default(64).meta({ help: 'Units in each of the two hidden layers.' }),
  }),
  defaults: {
    members: 2,
    batchSize: 50,
    maxEpochs: 10,
    optimizer: { kind: 'sgd', learningRate: 0.5, momentum: 0.9 },
    schedule: { kind: 'one-cycle', cycleMomentum: false, finalDivisor: 100 },
    strategy: { kind: 'hdet', averageEverySteps: 10, warmupSteps: 40, lossScale: 0.5, adaptation: 0.2 },
    logEverySteps: 10,
  },

  async data({ folders, seed }) {
    const { train: images } = await mnist({ ...folders, files: 't10k' });
    const { train, validation, test } = splitDataset(
      flattened(images),
      { validation: 0.1, test: 0.3 },
      new Generator(seed, 'split'),
    );
    return createSplits({ train, validation, test });
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
