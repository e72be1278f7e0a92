import type { RuleConfigOf } from '../../core/protocol/run/optimizer-config.ts';
import { tf } from '../tensorflow/tf.ts';
import { type Update, type UpdateSettings, withPenalty } from './optimizer.ts';
import { updateByOps } from './update-kernels.ts';

type AdamConfig = RuleConfigOf<'adam' | 'adamw'>;

/** Arguments of Adam's update, beside its inputs. */
export interface AdamConstants {
  beta1: number;
  beta2: number;
  /** η √(1 − β₂ᵗ) / (1 − β₁ᵗ): both bias corrections in the rate (section 2 of the paper). */
  rate: number;
  /** ε √(1 − β₂ᵗ), which makes the result exact. */
  epsilon: number;
  /** 1 − η λ with decoupled weight decay, else 1. */
  keep: number;
  /** λ where it is added to the gradient, else 0. */
  penalty: number;
}

/**
 * m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; θ ← θ − η · m̂ / (√v̂ + ε) with m̂ = m / (1 − β₁ᵗ), v̂ = v / (1 − β₂ᵗ)
 * (Kingma and Ba, 2015, algorithm 1). `adam` adds λθ to g; `adamw` shrinks θ by η·λ first (Loshchilov and Hutter, 2019,
 * algorithm 2).
 */
export function adamRule(config: AdamConfig): Update {
  return {
    update(inputs, step, settings) {
      adamUpdate.current(inputs, constantsOf(config, step, settings));
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

export const adamUpdate = updateByOps<AdamConstants>((variable, gradient, [mean, square], constants) => {
  const { beta1, beta2, rate, epsilon, keep, penalty } = constants;
  const slope = withPenalty(gradient, variable, penalty);
  const newMean = tf.add(tf.mul(mean, beta1), tf.mul(slope, 1 - beta1));
  const newSquare = tf.add(tf.mul(square, beta2), tf.mul(tf.square(slope), 1 - beta2));
  const change = tf.div(tf.mul(newMean, rate), tf.add(tf.sqrt(newSquare), epsilon));
  return { variable: tf.sub(keep === 1 ? variable : tf.mul(variable, keep), change), slots: [newMean, newSquare] };
});
