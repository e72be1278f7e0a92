import type { RuleConfigOf } from '../../core/protocol/run/optimizer-config.ts';
import { tf } from '../tensorflow/tf.ts';
import type { Update, UpdateSettings } from './optimizer.ts';
import { updateByOps } from './update-kernels.ts';

type LionConfig = RuleConfigOf<'lion'>;

/** Arguments of Lion's update, beside its inputs. */
export interface LionConstants {
  beta1: number;
  beta2: number;
  rate: number;
  /** 1 − η λ */
  keep: number;
}

/**
 * c = β₁m + (1 − β₁)g; θ ← θ − η · (sign(c) + λθ); m ← β₂m + (1 − β₂)g (Chen et al., 2023, "Symbolic discovery of
 * optimization algorithms", algorithm 2). An element of c that is not finite makes its weight NaN, so that it cannot
 * pass unnoticed.
 */
export function lionRule(config: LionConfig): Update {
  return {
    update(inputs, _, settings) {
      lionUpdate.current(inputs, constantsOf(config, settings));
    },
  };
}

function constantsOf(config: LionConfig, settings: UpdateSettings): LionConstants {
  const { learningRate, momentum: beta1 = config.beta1, weightDecay = config.weightDecay } = settings;
  return { beta1, beta2: config.beta2, rate: learningRate, keep: 1 - learningRate * weightDecay };
}

export const lionUpdate = updateByOps<LionConstants>((variable, gradient, [mean], constants) => {
  const { beta1, beta2, rate, keep } = constants;
  const mixed = tf.add(tf.mul(mean, beta1), tf.mul(gradient, 1 - beta1));
  const sign = tf.sub(tf.cast(tf.greater(mixed, 0), 'float32'), tf.cast(tf.less(mixed, 0), 'float32'));
  // 0 for finite numbers, else NaN.
  const direction = tf.add(sign, tf.sub(mixed, mixed));
  const kept = keep === 1 ? variable : tf.mul(variable, keep);
  const newMean = tf.add(tf.mul(mean, beta2), tf.mul(gradient, 1 - beta2));
  return { variable: tf.sub(kept, tf.mul(direction, rate)), slots: [newMean] };
});
