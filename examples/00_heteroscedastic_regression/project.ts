import { defineProject, gaussianNllLoss, heteroscedasticSine, tf, z } from 'tutti';
import { drawPredictions } from './figures.ts';

/** x·sin(x) with noise that grows with x: 20 training points, and a noise-free grid that reaches beyond them. */
export default defineProject({
  name: 'Heteroscedastic regression',
  description: 'Mean and variance networks on x·sin(x): what the noise explains, and where the members disagree.',
  task: 'heteroscedastic-regression',
  hyperparameters: z.object({
    hiddenUnits: z.int().min(1).default(50).meta({ help: 'Units in the hidden layer of each of the two networks.' }),
    fixedVariance: z.number().positive().default(0.002).meta({ help: 'Variance that stands in while the mean settles.' }),
    fixedVarianceShare: z.number().min(0).max(1).default(0.5).meta({ help: 'Share of the steps it stands in for.' }),
  }),
  defaults: {
    members: 2,
    optimizer: { kind: 'adam', learningRate: 0.01 },
    batchSize: 20,
    sampler: 'sequential',
    maxEpochs: 10_000,
    evaluateEveryEpochs: 500,
    logEverySteps: 100,
  },

  data({ seed }) {
    const { train, test } = heteroscedasticSine({ seed });
    const { train: validation } = heteroscedasticSine({ samples: 200, seed: seed + 1 });
    return { train, validation, test };
  },

  model({ hyperparameters: { hiddenUnits } }) {
    const x = tf.input({ shape: [1] });
    const hidden = (name: string) => tf.layers.dense({ units: hiddenUnits, activation: 'sigmoid', name });
    const meanHidden = hidden('mean_hidden').apply(x);
    const varianceHidden = hidden('variance_hidden').apply(x);
    const mean = tf.layers.dense({ units: 1, name: 'mean' }).apply(meanHidden);
    const variance = tf.layers.dense({ units: 1, activation: 'softplus', name: 'variance' }).apply(varianceHidden);
    return tf.model({ inputs: x, outputs: [mean, variance] as [typeof x, typeof x] });
  },

  /** The variance is held for a while, so that the mean is learned first (Skafte et al., 2019, as in the published example). */
  loss({ outputs: [mean, variance], targets, progress, hyperparameters }) {
    const { fixedVariance, fixedVarianceShare } = hyperparameters;
    const settled = progress < fixedVarianceShare ? tf.fill(variance.shape, fixedVariance) : variance;
    return gaussianNllLoss(mean, settled, targets);
  },

  figures: drawPredictions,
});
