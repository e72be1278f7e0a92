import type { RunConfig, StrategyConfig } from './run-config.ts';

export type SamplerKind = Exclude<RunConfig['sampler'], 'auto'>;

/** What a strategy asks of the rest of a configuration. */
export interface StrategyRules {
  /** Ranks exchange while they train, so all must do the same steps at the same time. */
  isLockstep: boolean;
  /** Orders of samples that it can train with; the first is what `auto` takes. */
  samplers: readonly [SamplerKind, ...SamplerKind[]];
  /** Tasks that it can train; null: any. */
  tasks: readonly string[] | null;
  /** Whether it trains with whatever loss a project brings. */
  ownLoss: boolean;
}

export const strategyRules: Record<StrategyConfig['kind'], StrategyRules> = {
  independent: {
    isLockstep: false,
    samplers: ['shuffled', 'shared', 'sharded', 'sharded-drop', 'sequential'],
    tasks: null,
    ownLoss: true,
  },
  // All members must see the same samples: their logits are averaged.
  joint: { isLockstep: true, samplers: ['shared', 'sequential'], tasks: ['classification'], ownLoss: false },
};

/** The order of samples of a run: the chosen one, or the one that suits its strategy. */
export function samplerOf({ sampler, strategy }: Pick<RunConfig, 'sampler' | 'strategy'>): SamplerKind {
  return sampler === 'auto' ? strategyRules[strategy.kind].samplers[0] : sampler;
}
