import type { RuleConfig } from '../../core/protocol/run/optimizer-config.ts';
import { tf } from '../tensorflow/tf.ts';
import { type UpdateRule, type UpdateSettings, withPenalty } from './optimizer.ts';
import { type AdamConstants, byOps, type UpdateKernel, updateKernels } from './update-kernels.ts';

type AdamConfig = Extract<RuleConfig, { kind: 'adam' | 'adamw' }>;

/**
 * m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; θ ← θ − η · m̂ / (√v̂ + ε) with m̂ = m / (1 − β₁ᵗ), v̂ = v / (1 − β₂ᵗ)
 * (Kingma and Ba, 2015, algorithm 1). `adam` adds λθ to g; `adamw` shrinks θ by η·λ first (Loshchilov and Hutter, 2019,
 * algorithm 2).
 */
export function adamRule(config: AdamConfig): UpdateRule {
  return {
    slots: ['mean', 'square'],
    update(inputs, step, settings) {
      const update = updateKernels()?.adam ?? updateByOps;
      update(inputs, constantsOf(config, step, settings));
    },
  };
}

function constantsOf(config: AdamConfig, step: number, settings: UpdateSettings): AdamConstants {
  const { kind, beta2, epsilon } = config;
  const { learningRate, momentum: beta1 = config.beta1, weightDecay = config.weightDecay } = settings;
  const squareCorrection = Math.sqrt(1 - beta2 ** step);
  return {
    beta1,
    beta2,
    rate: (learningRate * squareCorrection) / (1 - beta1 ** step),
    epsilon: epsilon * squareCorrection,
    keep: kind === 'adamw' ? 1 - learningRate * weightDecay : 1,
    penalty: kind === 'adam' ? weightDecay : 0,
  };
}

const updateByOps: UpdateKernel<AdamConstants> = byOps((variable, gradient, [mean, square], constants) => {
  const { beta1, beta2, rate, epsilon, keep, penalty } = constants;
  const slope = withPenalty(gradient, variable, penalty);
  const newMean = tf.add(tf.mul(mean, beta1), tf.mul(slope, 1 - beta1));
  const newSquare = tf.add(tf.mul(square, beta2), tf.mul(tf.square(slope), 1 - beta2));
  const change = tf.div(tf.mul(newMean, rate), tf.add(tf.sqrt(newSquare), epsilon));
  return { variable: tf.sub(keep === 1 ? variable : tf.mul(variable, keep), change), slots: [newMean, newSquare] };
});
