import type { RuleConfigOf } from '../../core/protocol/run/optimizer-config.ts';
import { tf } from '../tensorflow/tf.ts';
import { type Update, type UpdateSettings, withPenalty } from './optimizer.ts';
import { updateByOps } from './update-kernels.ts';

type SgdConfig = RuleConfigOf<'sgd'>;

/** Arguments of SGD's update, beside its inputs. */
export interface SgdConstants {
  rate: number;
  momentum: number;
  penalty: number;
  nesterov: boolean;
}

/**
 * g ← g + λθ; v ← μv + g; θ ← θ − η·v, or with Nesterov momentum θ ← θ − η·(g + μv): PyTorch's SGD (Sutskever et al.,
 * 2013, with the learning rate outside the velocity).
 */
export function sgdRule(config: SgdConfig): Update {
  return {
    update(inputs, _, settings) {
      sgdUpdate.current(inputs, constantsOf(config, settings));
    },
  };
}

function constantsOf(config: SgdConfig, settings: UpdateSettings): SgdConstants {
  const { learningRate, momentum = config.momentum, weightDecay = config.weightDecay } = settings;
  return { rate: learningRate, momentum, penalty: weightDecay, nesterov: config.nesterov };
}

export const sgdUpdate = updateByOps<SgdConstants>((variable, gradient, slots, constants) => {
  const { rate, momentum, penalty, nesterov } = constants;
  const slope = withPenalty(gradient, variable, penalty);
  if (slots.length === 0) return { variable: tf.sub(variable, tf.mul(slope, rate)), slots: [] };
  const velocity = tf.add(tf.mul(slots[0], momentum), slope);
  const direction = nesterov ? tf.add(slope, tf.mul(velocity, momentum)) : velocity;
  return { variable: tf.sub(variable, tf.mul(direction, rate)), slots: [velocity] };
});
