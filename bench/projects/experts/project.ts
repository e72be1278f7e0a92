import { createSplits, defineProject, z } from 'tutti-ensembles';
import { createNetwork } from '../../../examples/05_joint_training/network.ts';
import { noiseImages } from '../noise-images.ts';

/** The network of example 05 on noise, to measure the time that joint training adds to a step. */
export default defineProject({
  name: 'Experts on noise',
  description: 'A small convolutional network, for benchmarks.',
  task: 'classification',
  hyperparameters: z.object({}),
  defaults: {
    members: 2,
    optimizer: { kind: 'sgd', learningRate: 0.05, momentum: 0.9 },
    batchSize: 200,
    sampler: 'shared',
    dropLast: true,
    maxEpochs: 12,
    evaluateEveryEpochs: 12,
    checkpoints: { final: false },
  },
  data: ({ seed }) => createSplits({ train: noiseImages(4000, seed) }),
  model: ({ config, rank, featureShape, targetSize }) =>
    createNetwork({ featureShape, classes: targetSize, seeds: [config.seed + rank] }),
});
