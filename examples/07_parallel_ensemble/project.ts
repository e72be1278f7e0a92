import { defineProject, Generator, mnist, splitDataset, tf, z } from 'tutti-ensembles';
import { drawUncertainty } from './figures.ts';

/**
 * Small convolutional networks, trained at the same time; their mean prediction measures its uncertainty. `compare.ts`
 * compares ways to train them.
 */
export default defineProject({
  name: 'Parallel ensemble',
  description:
    "Convolutional networks on MNIST, and the predictive entropy of their mean as the ensemble's uncertainty.",
  task: 'classification',
  // To download the images.
  permissions: { network: true },
  hyperparameters: z.object({
    files: z.enum(['t10k', 'all']).default('t10k').meta({
      help: "`t10k`: only MNIST's 10,000 test images; `all`: also its 60,000 training images.",
    }),
    heldOut: z
      .int()
      .min(0)
      .default(1000)
      .meta({
        help:
          'Number of validation images; the same number is for testing if there is no separate test set. 0: train ' +
          'on all.',
      }),
  }),
  defaults: {
    members: 4,
    optimizer: { kind: 'sgd', learningRate: 0.01, momentum: 0.5 },
    batchSize: 64,
    maxEpochs: 2,
    logEverySteps: 10,
  },

  async data({ folders, seed, hyperparameters: { files, heldOut } }) {
    const { train: images, test } = await mnist({ ...folders, files });
    if (heldOut === 0) return { train: images };
    const held = { validation: heldOut, ...(test === undefined && { test: heldOut }) };
    const splits = splitDataset(images, held, new Generator(seed, 'split'));
    return { ...splits, test: test ?? splits.test };
  },

  /** Convolutions of 5x5 with 10 and 20 filters, each followed by max pooling over 2x2, then 50 units and K logits. */
  model({ featureShape, targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.conv2d({ filters: 10, kernelSize: 5, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.maxPooling2d({ poolSize: 2 }),
        tf.layers.conv2d({ filters: 20, kernelSize: 5, activation: 'relu' }),
        tf.layers.maxPooling2d({ poolSize: 2 }),
        tf.layers.flatten(),
        tf.layers.dense({ units: 50, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },

  figures: drawUncertainty,
});
