import { createDataset, defineProject, Generator, splitDataset, tf, z } from 'tutti-ensembles';

/** Values between 0 and the input: their quantile of level q is q times the input. */
export default defineProject({
  name: 'Quantiles',
  description: 'Quantiles of a uniform distribution whose width is the input.',
  task: 'quantile-regression',
  quantiles: [0.1, 0.5, 0.9],
  hyperparameters: z.object({}),
  defaults: { maxEpochs: 20, batchSize: 20, logEverySteps: 5, optimizer: { kind: 'adam', learningRate: 0.05 } },

  data({ seed }) {
    const generator = new Generator(seed, 'widths');
    const features = Float32Array.from({ length: 400 }, () => 1 + generator.uniform());
    const targets = features.map((width) => width * generator.uniform());
    const widths = createDataset({ name: 'widths', featureShape: [1], features, targets });
    return splitDataset(widths, { validation: 0.25, test: 0.25 }, new Generator(seed, 'split'));
  },

  model({ targetSize }) {
    return tf.sequential({ layers: [tf.layers.dense({ units: targetSize, inputShape: [1] })] });
  },
});
