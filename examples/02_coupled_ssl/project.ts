import { cifar10, createSplits, defineProject, Generator, splitDataset, z } from 'tutti-ensembles';
import { resNet18, smallNetwork } from './networks.ts';

/**
 * CIFAR-10 with labels for few images. Members learn from the labels, and from the other images by agreeing with each
 * other.
 */
export default defineProject({
  name: 'Coupled semi-supervised learning',
  description: 'CIFAR-10 with few labels: members also learn from unlabelled images, by agreeing with the ensemble.',
  task: 'classification',
  // To download the images.
  permissions: { network: true },
  hyperparameters: z.object({
    network: z
      .enum(['small', 'resnet-18'])
      .default('small')
      .meta({ help: 'Three convolutions, for a CPU, or a ResNet-18, for a GPU.' }),
    labels: z.int().min(10).default(250).meta({ help: 'Training images whose labels are used.' }),
    heldOut: z.int().min(1).default(1000).meta({ help: 'Training images to validate on.' }),
  }),
  defaults: {
    members: 4,
    strategy: { kind: 'coupled', couplingWeight: 1, unlabelledBatchSize: 100 },
    augmentation: { cropPadding: 4, horizontalFlip: true },
    optimizer: { kind: 'adam', learningRate: 0.003 },
    batchSize: 50,
    maxEpochs: 90,
    evaluateEveryEpochs: 3,
    logEverySteps: 10,
  },

  /** The files have labels for the unlabelled split too, but training does not use them. */
  async data({ folders, seed, hyperparameters: { labels, heldOut } }) {
    const { train: images, test } = await cifar10(folders);
    const held = splitDataset(images, { validation: heldOut }, new Generator(seed, 'split'));
    const parts = splitDataset(held.train, { validation: labels }, new Generator(seed, 'labels'));
    return createSplits({
      train: parts.validation ?? held.train,
      unlabelled: parts.train,
      validation: held.validation,
      test,
    });
  },

  model({ hyperparameters: { network }, featureShape, targetSize }) {
    const build = network === 'small' ? smallNetwork : resNet18;
    return build({ featureShape, classes: targetSize });
  },
});
