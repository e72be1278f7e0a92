import { defineProject, gaussianNllLoss, heteroscedasticSine, type SymbolicTensor, tf, z } from 'tutti-ensembles';
import { drawPredictions, isCovered } from './figures.ts';

/** x·sin(x) with noise that grows with x: 100 training points, and a noise-free grid that extends beyond them. */
export default defineProject({
  name: 'Heteroscedastic regression',
  description: 'Mean and variance networks on x·sin(x): what the noise explains, and where the members disagree.',
  task: 'heteroscedastic-regression',
  hyperparameters: z.object({
    trained: z.int().min(2).default(100).meta({ help: 'Noisy points to train on.', unit: 'points' }),
    leastVariance: z
      .number()
      .positive()
      .default(0.01)
      .meta({ help: 'Added to every predicted variance, so that no member is ever certain.' }),
    hiddenUnits: z.int().min(1).default(50).meta({ help: 'Units in the hidden layer of each of the two networks.' }),
    fixedVariance: z
      .number()
      .positive()
      .default(0.002)
      .meta({ help: 'Variance in the loss while the mean is learned.' }),
    fixedVarianceShare: z.number().min(0).max(1).default(0.5).meta({ help: 'Share of the steps it stands in for.' }),
  }),
  defaults: {
    members: 5,
    determinism: 'deterministic',
    optimizer: { kind: 'adam', learningRate: 0.01 },
    batchSize: 100,
    sampler: 'sequential',
    maxEpochs: 4000,
    evaluateEveryEpochs: 200,
    logEverySteps: 100,
  },

  data({ seed, hyperparameters: { trained } }) {
    const { train, test } = heteroscedasticSine({ seed, samples: trained });
    const { train: validation } = heteroscedasticSine({ samples: 200, seed: seed + 1 });
    // Scores judge the interval that the data cover. Beyond it, where nothing is known, one only looks.
    const weights = test && Float32Array.from(test.features, (x) => Number(isCovered(x)));
    return { train, validation, test: test && { ...test, weights } };
  },

  model({ hyperparameters: { hiddenUnits, leastVariance } }) {
    const x = tf.input({ shape: [1] });
    const network = (name: string, activation: 'linear' | 'softplus') => {
      const hidden = tf.layers.dense({
        units: hiddenUnits,
        activation: 'sigmoid',
        name: `${name}_hidden`,
        ...uniform(1),
      });
      const output = tf.layers.dense({ units: 1, activation, name, ...uniform(hiddenUnits) });
      return output.apply(hidden.apply(x)) as SymbolicTensor;
    };
    const raise = tf.layers.rescaling({ scale: 1, offset: leastVariance });
    const variance = raise.apply(network('variance', 'softplus')) as SymbolicTensor;
    return tf.model({ inputs: x, outputs: [network('mean', 'linear'), variance] });
  },

  /**
   * Fixes the variance at first, so that the mean is learned first (Skafte et al., 2019, as in the published example).
   */
  loss({ outputs: [mean, variance], targets, progress, hyperparameters }) {
    const { fixedVariance, fixedVarianceShare } = hyperparameters;
    const settled = progress < fixedVarianceShare ? tf.fill(variance.shape, fixedVariance) : variance;
    return gaussianNllLoss(mean, settled, targets);
  },

  figures: drawPredictions,
});

/**
 * Weights and biases from U(−1/√n, 1/√n) for n inputs, as in PyTorch's linear layers: wide enough for members to
 * differ.
 */
function uniform(inputs: number) {
  const limit = 1 / Math.sqrt(inputs);
  const initializer = () => tf.initializers.randomUniform({ minval: -limit, maxval: limit });
  return { kernelInitializer: initializer(), biasInitializer: initializer() };
}
