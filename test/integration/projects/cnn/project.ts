import { defineProject, Generator, mnist, splitDataset, tf, z } from 'tutti-ensembles';

/** 1,200 images of MNIST's test files: 800 to train on, 200 each to validate and test. */
export default defineProject({
  name: 'Small CNN',
  description: 'MNIST t10k with two convolutions, batch normalisation and a max pool.',
  task: 'classification',
  hyperparameters: z.object({}),
  defaults: { batchSize: 25, maxEpochs: 3, optimizer: { kind: 'adam', learningRate: 0.003 } },

  async data({ folders, seed }) {
    const { train } = await mnist({ ...folders, files: 't10k' });
    return splitDataset(train, { validation: 200, test: 200 }, new Generator(seed, 'split'));
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
