import { createDataset, defineProject, Generator, splitDataset, tf, z } from 'tutti-ensembles';

/** Points in the plane with two labels: right of the origin, above it. */
export default defineProject({
  name: 'Labels',
  description: 'Points in the plane with several labels.',
  task: 'multi-label',
  hyperparameters: z.object({}),
  defaults: { maxEpochs: 15, batchSize: 20, logEverySteps: 5, optimizer: { kind: 'adam', learningRate: 0.1 } },

  data({ seed }) {
    const generator = new Generator(seed, 'points');
    const classNames = ['right', 'above'];
    const features = Float32Array.from({ length: 400 }, () => 2 * generator.uniform() - 1);
    const targets = features.map((value) => (value > 0 ? 1 : 0));
    const points = createDataset({ name: 'points', featureShape: [2], features, targets, classNames });
    return splitDataset(points, { validation: 0.25, test: 0.25 }, new Generator(seed, 'split'));
  },

  model({ targetSize }) {
    return tf.sequential({ layers: [tf.layers.dense({ units: targetSize, inputShape: [2] })] });
  },
});
