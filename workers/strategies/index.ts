import type { StrategyConfig } from '../../core/protocol/run/config.ts';
import { Coupled } from './coupled.ts';
import { DataParallel } from './data-parallel/data-parallel.ts';
import { Sharded } from './sharded/sharded.ts';
import { Hdet } from './hdet/hdet.ts';
import { independentStrategy } from './independent.ts';
import { Joint } from './joint.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import type { Strategy, StrategyContext } from './strategy.ts';

export function createStrategy(config: StrategyConfig, context: StrategyContext): Strategy {
  switch (config.kind) {
    case 'independent':
      return independentStrategy();
    case 'joint':
      return new Joint(config, context);
    case 'coupled':
      return new Coupled(config, context);
    case 'data-parallel':
      return new DataParallel(config, context);
    case 'sharded':
      return new Sharded(config, context);
    case 'pipeline':
      return new Pipeline(config, context);
    case 'hdet':
      return new Hdet(config, context);
  }
}
