import type { RuleConfigOf } from '../../core/protocol/run/optimizer-config.ts';
import { tf, type Tensor } from '../tensorflow/tf.ts';
import type { Update, UpdateSettings } from './optimizer.ts';
import { directionByOps, rowOf, type UpdateInputs, write } from './update-kernels.ts';

type LambConfig = RuleConfigOf<'lamb'>;

/** Arguments of the direction of LAMB's update, beside its inputs. */
export interface LambConstants {
  beta1: number;
  beta2: number;
  /** √(1 − β₂ᵗ) / (1 − β₁ᵗ): both bias corrections. */
  scale: number;
  /** ε √(1 − β₂ᵗ), which makes the result exact. */
  epsilon: number;
  /** λ */
  decay: number;
}

/**
 * m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; u = m̂ / (√v̂ + ε) + λθ with m̂ = m / (1 − β₁ᵗ), v̂ = v / (1 − β₂ᵗ); θ ← θ
 * − η · ‖θ‖/‖u‖ · u for each weight tensor (You et al., 2020, "Large batch optimization for deep learning", algorithm
 * 2, with φ(z) = z). Where a norm is 0, the ratio is 1.
 */
export function lambRule(config: LambConfig): Update {
  const direction = (inputs: UpdateInputs, step: number, settings: UpdateSettings): Tensor =>
    lambDirection.current(inputs, constantsOf(config, step, settings));
  return {
    update(inputs, step, settings) {
      tf.tidy(() => {
        const along = direction(inputs, step, settings);
        const old = rowOf(inputs.variable, inputs.row);
        const change = tf.mul(along, tf.mul(trustRatio(old, along), settings.learningRate));
        write(inputs.variable, tf.sub(old, change), inputs.row);
      });
    },
    byNorms: {
      direction,
      ratio: (variableNorm, directionNorm) =>
        variableNorm > 0 && directionNorm > 0 ? variableNorm / directionNorm : 1,
    },
  };
}

/** ‖θ‖/‖u‖, or 1 where a norm is 0: a scalar. */
function trustRatio(variable: Tensor, direction: Tensor): Tensor {
  const [ofVariable, ofDirection] = [tf.norm(variable), tf.norm(direction)];
  const isBoth = tf.greater(tf.mul(ofVariable, ofDirection), 0);
  return tf.where(isBoth, tf.div(ofVariable, tf.where(isBoth, ofDirection, tf.scalar(1))), tf.scalar(1));
}

function constantsOf(config: LambConfig, step: number, settings: UpdateSettings): LambConstants {
  const { beta2, epsilon } = config;
  const { momentum: beta1 = config.beta1, weightDecay: decay = config.weightDecay } = settings;
  const squareCorrection = Math.sqrt(1 - beta2 ** step);
  return {
    beta1,
    beta2,
    scale: squareCorrection / (1 - beta1 ** step),
    epsilon: epsilon * squareCorrection,
    decay,
  };
}

export const lambDirection = directionByOps<LambConstants>((variable, gradient, [mean, square], constants) => {
  const { beta1, beta2, scale, epsilon, decay } = constants;
  const newMean = tf.add(tf.mul(mean, beta1), tf.mul(gradient, 1 - beta1));
  const newSquare = tf.add(tf.mul(square, beta2), tf.mul(tf.square(gradient), 1 - beta2));
  const adapted = tf.div(tf.mul(newMean, scale), tf.add(tf.sqrt(newSquare), epsilon));
  const direction = decay === 0 ? adapted : tf.add(adapted, tf.mul(variable, decay));
  return { direction, slots: [newMean, newSquare] };
});
