import {
  optimizerSlots,
  type RuleConfig,
  type RuleConfigOf,
  type RuleKind,
} from '../../core/protocol/run/optimizer-config.ts';
import type { Variable } from '../tensorflow/tf.ts';
import { adamRule } from './adam.ts';
import { lambRule } from './lamb.ts';
import { lionRule } from './lion.ts';
import type { SlotStorage } from './slots/slot-storage.ts';
import { RuleOptimizer, type Update, type UpdatedArrays, type UpdateRule } from './optimizer.ts';
import { rmspropRule } from './rmsprop.ts';
import { sgdRule } from './sgd.ts';

export type { Optimizer, RuleOptimizer, UpdateRule, UpdateSettings } from './optimizer.ts';

/** How each kind updates a variable. Its options and slots are in `core/protocol/run/optimizer-config.ts`. */
const rules: { readonly [Kind in RuleKind]: (config: RuleConfigOf<Kind>) => Update } = {
  sgd: sgdRule,
  adam: adamRule,
  adamw: adamRule,
  rmsprop: rmspropRule,
  lion: lionRule,
  lamb: lambRule,
};

export function updateRuleOf(config: RuleConfig): UpdateRule {
  // The entry of a configuration's own kind takes it.
  const makeUpdate = rules[config.kind] as (own: RuleConfig) => Update;
  return { slots: optimizerSlots(config), ...makeUpdate(config) };
}

/**
 * An optimizer for these variables or arrays: its slots start at zero.
 * @param storage of its slots; absent: float32 tensors
 */
export function createOptimizer(
  config: RuleConfig,
  updated: readonly Variable[] | UpdatedArrays,
  storage?: SlotStorage,
): RuleOptimizer {
  return new RuleOptimizer(updateRuleOf(config), updated, storage);
}
