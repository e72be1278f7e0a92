import type { RuleConfigOf } from '../../core/protocol/run/optimizer-config.ts';
import { tf } from '../tensorflow/tf.ts';
import { type Update, type UpdateSettings, withPenalty } from './optimizer.ts';
import { updateByOps } from './update-kernels.ts';

type RmspropConfig = RuleConfigOf<'rmsprop'>;

/** Arguments of RMSprop's update, beside its inputs: the slot `square`, and `velocity` and `mean` where it has them. */
export interface RmspropConstants {
  rho: number;
  rate: number;
  epsilon: number;
  /** 0 without the slot `velocity`. */
  momentum: number;
  penalty: number;
  centered: boolean;
}

/**
 * g ← g + λθ; s ← ρs + (1 − ρ)g²; θ ← θ − η · g / (√s + ε) (Tieleman and Hinton, 2012, lecture 6.5). Centered: a ← ρa +
 * (1 − ρ)g and √(s − a²) in place of √s (Graves, 2013, eq. 38 to 45). With momentum: v ← μv + g / (√s + ε); θ ← θ −
 * η·v. As PyTorch's RMSprop.
 */
export function rmspropRule(config: RmspropConfig): Update {
  return {
    update(inputs, _, settings) {
      rmspropUpdate.current(inputs, constantsOf(config, settings));
    },
  };
}

function constantsOf(config: RmspropConfig, settings: UpdateSettings): RmspropConstants {
  const { rho, epsilon, centered } = config;
  const { learningRate, momentum = config.momentum, weightDecay = config.weightDecay } = settings;
  return { rho, rate: learningRate, epsilon, momentum, penalty: weightDecay, centered };
}

export const rmspropUpdate = updateByOps<RmspropConstants>((variable, gradient, slots, constants) => {
  const { rho, rate, epsilon, momentum, penalty, centered } = constants;
  const slope = withPenalty(gradient, variable, penalty);
  const square = tf.add(tf.mul(slots[0], rho), tf.mul(tf.square(slope), 1 - rho));
  const mean = centered ? [tf.add(tf.mul(slots[slots.length - 1], rho), tf.mul(slope, 1 - rho))] : [];
  const variance = centered ? tf.maximum(tf.sub(square, tf.square(mean[0])), 0) : square;
  const scaled = tf.div(slope, tf.add(tf.sqrt(variance), epsilon));
  const hasMomentum = slots.length > 1 + mean.length;
  const velocity = hasMomentum ? [tf.add(tf.mul(slots[1], momentum), scaled)] : [];
  const change = tf.mul(velocity[0] ?? scaled, rate);
  return { variable: tf.sub(variable, change), slots: [square, ...velocity, ...mean] };
});
