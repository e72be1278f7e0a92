import type { OptimizerConfig } from '../../protocol/run-config.ts';
import type { Variable } from '../tf.ts';
import { Adam } from './adam.ts';
import type { Optimizer } from './optimizer.ts';
import { Sgd } from './sgd.ts';

export type { Optimizer, UpdateSettings } from './optimizer.ts';

/** An optimizer for these variables: its slots start at zero. */
export function createOptimizer(config: OptimizerConfig, variables: Variable[]): Optimizer {
  return config.kind === 'sgd' ? new Sgd(config, variables) : new Adam(config, variables);
}
