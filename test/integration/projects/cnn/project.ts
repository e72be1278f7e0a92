import { defineProject, Generator, mnist, splitDataset, tf, z } from 'tutti';

/** The 10,000 images of MNIST's test files: 4,000 to train on, 1,000 to test, the rest to validate. */
export default defineProject({
  name: 'Small CNN',
  description: 'MNIST t10k with two convolutions, batch normalisation and a max pool.',
  task: 'classification',
  hyperparameters: z.object({}),
  defaults: { batchSize: 50, maxEpochs: 1, optimizer: { kind: 'adam', learningRate: 0.003 } },

  async data({ folders, seed }) {
    const { train } = await mnist({ ...folders, files: 't10k' });
    return splitDataset(train, { validation: 5000, test: 1000 }, new Generator(seed, 'split'));
  },

  model({ featureShape, targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.conv2d({ filters: 8, kernelSize: 3, strides: 2, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.batchNormalization(),
        tf.layers.conv2d({ filters: 16, kernelSize: 3, padding: 'same', activation: 'relu' }),
        tf.layers.maxPooling2d({ poolSize: 2 }),
        tf.layers.flatten(),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});
