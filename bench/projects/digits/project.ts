import { createSplits, defineProject } from 'tutti-ensembles';
import parallelEnsemble from '../../../examples/07_parallel_ensemble/project.ts';
import { noiseImages } from '../noise-images.ts';

/** Example 07's networks, trained on 10,000 images of noise without evaluation, as in `bench/peers/digits.py`. */
export default defineProject({
  ...parallelEnsemble,
  name: 'Digits of noise',
  description: 'Small convolutional networks, for benchmarks.',
  defaults: { ...parallelEnsemble.defaults, members: 2, evaluateEveryEpochs: 2 },
  data: ({ seed }) => createSplits({ train: noiseImages(10_000, seed) }),
  figures: undefined,
});
