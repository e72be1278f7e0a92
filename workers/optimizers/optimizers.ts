import type { OptimizerConfig } from '../../core/protocol/run/config.ts';
import type { Variable } from '../tensorflow/tf.ts';
import { adamRule } from './adam.ts';
import { type Optimizer, RuleOptimizer, type UpdateRule } from './optimizer.ts';
import { sgdRule } from './sgd.ts';

export type { Optimizer, UpdateRule, UpdateSettings } from './optimizer.ts';

export function updateRuleOf(config: OptimizerConfig): UpdateRule {
  return config.kind === 'sgd' ? sgdRule(config) : adamRule(config);
}

/** An optimizer for these variables: its slots start at zero. */
export function createOptimizer(config: OptimizerConfig, variables: Variable[]): Optimizer {
  return new RuleOptimizer(updateRuleOf(config), variables);
}
