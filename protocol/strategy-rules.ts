import type { RunConfig, StrategyConfig } from './run-config.ts';

export type SamplerKind = Exclude<RunConfig['sampler'], 'auto'>;

/** What a strategy asks of the rest of a configuration. */
export interface StrategyRules {
  /** Ranks exchange while they train, so all must do the same steps at the same time. */
  isLockstep: boolean;
  /**
   * All ranks train one model: the run is an ensemble of one, whose member is rank 0, however many ranks there are. Ranks evaluate
   * parts of a split, and only rank 0 keeps checkpoints and predictions.
   */
  isOneModel: boolean;
  /** Orders of samples that it can train with; the first is what `auto` takes. */
  samplers: readonly [SamplerKind, ...SamplerKind[]];
  /** Tasks that it can train; null: any. */
  tasks: readonly string[] | null;
  /** Whether it trains with whatever loss a project brings. */
  ownLoss: boolean;
  /** Whether several members can be one computation (`membersPerDevice`). */
  stacks: boolean;
}

const oneModel: StrategyRules = {
  isLockstep: true,
  isOneModel: true,
  samplers: ['sharded-uneven', 'sharded', 'sharded-drop'],
  tasks: null,
  ownLoss: true,
  stacks: false,
};

export const strategyRules: Record<StrategyConfig['kind'], StrategyRules> = {
  independent: {
    isLockstep: false,
    isOneModel: false,
    samplers: ['shuffled', 'shared', 'sharded', 'sharded-drop', 'sharded-uneven', 'sequential'],
    tasks: null,
    ownLoss: true,
    stacks: true,
  },
  joint: {
    isLockstep: true,
    isOneModel: false,
    // All members must see the same samples: their logits are averaged.
    samplers: ['shared', 'sequential'],
    tasks: ['classification'],
    ownLoss: false,
    stacks: false,
  },
  coupled: {
    isLockstep: true,
    isOneModel: false,
    samplers: ['shuffled', 'shared', 'sequential'],
    tasks: ['classification'],
    ownLoss: true,
    stacks: false,
  },
  'data-parallel': oneModel,
  sharded: oneModel,
  hdet: oneModel,
};

/** The order of samples of a run: the chosen one, or the one that suits its strategy. */
export function samplerOf({ sampler, strategy }: Pick<RunConfig, 'sampler' | 'strategy'>): SamplerKind {
  return sampler === 'auto' ? strategyRules[strategy.kind].samplers[0] : sampler;
}

/** Members of the ensemble that a run trains: its ranks, or one where all ranks train one model. */
export function memberCountOf({ members, strategy }: Pick<RunConfig, 'members' | 'strategy'>): number {
  return strategyRules[strategy.kind].isOneModel ? 1 : members;
}

/** Samples that a rank takes for one step. */
export function samplesPerStep({ batchSize, strategy }: Pick<RunConfig, 'batchSize' | 'strategy'>): number {
  return batchSize * ('accumulate' in strategy ? strategy.accumulate : 1);
}
