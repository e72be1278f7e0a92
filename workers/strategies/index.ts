import type { RunConfig, StrategyConfig } from '../../protocol/run-config.ts';
import type { Task } from '../training/tasks.ts';
import { independentStrategy } from './independent.ts';
import { jointStrategy } from './joint/index.ts';
import type { Strategy } from './strategy.ts';

/** What a strategy may need to know besides its own options. */
export interface StrategyContext {
  config: RunConfig;
  task: Task;
  /** Steps that each rank's training has at most. */
  totalSteps: number;
}

export function createStrategy(config: StrategyConfig, _context: StrategyContext): Strategy {
  switch (config.kind) {
    case 'independent':
      return independentStrategy();
    case 'joint':
      return jointStrategy(config);
  }
}
