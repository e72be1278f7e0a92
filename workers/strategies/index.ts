import type { StrategyConfig } from '../../protocol/run-config.ts';
import { independentStrategy } from './independent.ts';
import type { Strategy } from './strategy.ts';

export function createStrategy(config: StrategyConfig): Strategy {
  switch (config.kind) {
    case 'independent':
      return independentStrategy();
  }
}
