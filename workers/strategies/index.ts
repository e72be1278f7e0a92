import type { StrategyConfig } from '../../core/protocol/run/config.ts';
import { Coupled } from './coupled.ts';
import { DataParallel } from './data-parallel/data-parallel.ts';
import { Sharded } from './sharded/sharded.ts';
import { Hdet } from './hdet/hdet.ts';
import { independentStrategy } from './independent.ts';
import { Joint } from './joint.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import type { Strategy, StrategyContext } from './strategy.ts';

type Make<Kind> = (config: Extract<StrategyConfig, { kind: Kind }>, context: StrategyContext) => Strategy;

/** The strategies. What the rest of Tutti asks of each is in `core/protocol/run/strategies/strategy-rules.ts`. */
const strategies: { readonly [Kind in StrategyConfig['kind']]: Make<Kind> } = {
  independent: independentStrategy,
  joint: (config, context) => new Joint(config, context),
  coupled: (config, context) => new Coupled(config, context),
  'data-parallel': (config, context) => new DataParallel(config, context),
  sharded: (config, context) => new Sharded(config, context),
  pipeline: (config, context) => new Pipeline(config, context),
  hdet: (config, context) => new Hdet(config, context),
};

export function createStrategy(config: StrategyConfig, context: StrategyContext): Strategy {
  // The entry of a configuration's own kind takes it.
  return (strategies[config.kind] as Make<StrategyConfig['kind']>)(config, context);
}
