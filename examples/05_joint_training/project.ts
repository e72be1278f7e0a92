import { createSplits, defineProject, Generator, mnist, splitDataset, z } from 'tutti-ensembles';
import { createNetwork } from './network.ts';

/** Small networks that learn as one model, each in its own process. `compare.ts` compares other ways to train them. */
export default defineProject({
  name: 'Joint training',
  description: 'Small convolutional networks on MNIST that are trained as one product of experts.',
  task: 'classification',
  // To download the images.
  permissions: { network: true },
  hyperparameters: z.object({
    files: z.enum(['t10k', 'all']).default('t10k').meta({
      help: "`t10k`: only MNIST's 10,000 test images, split in three; `all`: also its 60,000 training images.",
    }),
    heldOut: z.int().min(1).default(1000).meta({
      help: 'Number of validation images with `t10k`; the test split has the same number.',
    }),
    expertsPerMember: z.int().min(1).default(1).meta({
      help: 'Networks in each member, in one graph. All of them in one member are the single-graph form.',
    }),
  }),
  defaults: {
    members: 4,
    strategy: { kind: 'joint' },
    optimizer: { kind: 'sgd', learningRate: 0.2, momentum: 0.9 },
    batchSize: 200,
    sampler: 'shared',
    dropLast: true,
    maxEpochs: 12,
    logEverySteps: 1,
  },

  async data({ folders, seed, hyperparameters: { files, heldOut } }) {
    const { train: images, test } = await mnist({ ...folders, files });
    const held = files === 'all' ? { validation: 5000 } : { validation: heldOut, test: heldOut };
    const splits = splitDataset(images, held, new Generator(seed, 'split'));
    return createSplits({ ...splits, test: test ?? splits.test });
  },

  model({ hyperparameters: { expertsPerMember }, config, rank, featureShape, targetSize }) {
    const first = config.seed + rank * expertsPerMember;
    const seeds = Array.from({ length: expertsPerMember }, (_, expert) => first + expert);
    return createNetwork({ featureShape, classes: targetSize, seeds });
  },
});
