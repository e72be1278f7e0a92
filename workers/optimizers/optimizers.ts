import type { RuleConfig } from '../../core/protocol/run/optimizer-config.ts';
import type { Variable } from '../tensorflow/tf.ts';
import { adamRule } from './adam.ts';
import { lambRule } from './lamb.ts';
import { lionRule } from './lion.ts';
import type { SlotStorage } from './slots/slot-storage.ts';
import { RuleOptimizer, type UpdatedArrays, type UpdateRule } from './optimizer.ts';
import { rmspropRule } from './rmsprop.ts';
import { sgdRule } from './sgd.ts';

export type { Optimizer, RuleOptimizer, UpdateRule, UpdateSettings } from './optimizer.ts';

export function updateRuleOf(config: RuleConfig): UpdateRule {
  switch (config.kind) {
    case 'sgd':
      return sgdRule(config);
    case 'adam':
    case 'adamw':
      return adamRule(config);
    case 'rmsprop':
      return rmspropRule(config);
    case 'lion':
      return lionRule(config);
    case 'lamb':
      return lambRule(config);
  }
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
