import { createDataset, defineProject, Generator, splitDataset, tf, z } from 'tutti-ensembles';

/** Grades 0, 1 and 2 of one number. */
export default defineProject({
  name: 'Grades',
  description: 'Three ordered grades of one number.',
  task: 'ordinal',
  hyperparameters: z.object({}),
  defaults: { maxEpochs: 15, batchSize: 20, logEverySteps: 5, optimizer: { kind: 'adam', learningRate: 0.2 } },

  data({ seed }) {
    const generator = new Generator(seed, 'grades');
    const features = Float32Array.from({ length: 300 }, () => 3 * generator.uniform());
    const grades = createDataset({
      name: 'grades',
      featureShape: [1],
      features,
      targets: Int32Array.from(features, Math.floor),
      classCount: 3,
    });
    const splits = splitDataset(grades, { validation: 0.25, test: 0.25 }, new Generator(seed, 'split'));
    return {
      ...splits,
      outOfDistribution: { 'other numbers': () => ({ ...grades, features: features.map((value) => -value) }) },
    };
  },

  model({ targetSize }) {
    return tf.sequential({ layers: [tf.layers.dense({ units: targetSize, inputShape: [1] })] });
  },
});
