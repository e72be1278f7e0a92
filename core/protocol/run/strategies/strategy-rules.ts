import { answerOfProduct, type Combination, jointTasks } from '../../../metrics/combination.ts';
import type { RunConfig, StrategyConfig } from '../config.ts';

export type SamplerKind = Exclude<RunConfig['sampler'], 'auto'>;

/** Orders that are the same on all ranks. */
export const commonSamplers: readonly [SamplerKind, ...SamplerKind[]] = ['shared', 'sequential'];

/** What a strategy does, and requires of the rest of a configuration: whoever depends on it asks this, not its kind. */
export interface StrategyRules {
  /** Ranks exchange data at every step, so all must do the same steps at the same time. */
  isLockstep: boolean;
  /**
   * All ranks train one model. The run is an ensemble of one member, rank 0. Each rank evaluates a part of a split (or
   * all of it with its part of the layers), and only rank 0 keeps checkpoints and predictions. A pipeline can have
   * several such members, see `memberOfRank`.
   */
  isOneModel: boolean;
  /** What of their model the ranks have a part of; null: each has all of it. */
  splits: 'layers' | 'optimizer-state' | null;
  /** Whether a resume may change the number of ranks: each can take any part of the work. */
  mayResize: boolean;
  /** Whether members exchange what they predict for each sample of a batch: a model then has one output. */
  exchangesOutputs: boolean;
  /** Whether members learn one target of each sample as their product of experts, which then answers. */
  isProduct: boolean;
  /** Whether all members must get the same inputs: in the same order, and mixed (`augmentation.mixup`) alike. */
  needsSameInputs: boolean;
  /** Orders of samples that it can train with; `auto` uses the first. */
  samplers: readonly [SamplerKind, ...SamplerKind[]];
  /** Tasks that it can train; null: any. */
  tasks: readonly string[] | null;
  /** Why it cannot train others. */
  whyNotOthers?: string;
  /** Whether it can train with a project's own loss. */
  ownLoss: boolean;
  /** Whether ranks need only the samples of their batches, and all ranks may get the same batches. */
  takesCommonBatches: boolean;
}

const oneModel: StrategyRules = {
  isLockstep: true,
  isOneModel: true,
  splits: null,
  mayResize: false,
  exchangesOutputs: false,
  isProduct: false,
  needsSameInputs: false,
  samplers: ['sharded-uneven', 'sharded', 'sharded-drop'],
  tasks: null,
  ownLoss: true,
  takesCommonBatches: false,
};

export const strategyRules: Record<StrategyConfig['kind'], StrategyRules> = {
  independent: {
    isLockstep: false,
    isOneModel: false,
    splits: null,
    mayResize: false,
    exchangesOutputs: false,
    isProduct: false,
    needsSameInputs: false,
    samplers: ['shuffled', 'shared', 'sharded', 'sharded-drop', 'sharded-uneven', 'sequential'],
    tasks: null,
    ownLoss: true,
    takesCommonBatches: true,
  },
  joint: {
    isLockstep: true,
    isOneModel: false,
    splits: null,
    mayResize: false,
    exchangesOutputs: true,
    isProduct: true,
    // Their logits for a sample are averaged.
    needsSameInputs: true,
    samplers: commonSamplers,
    tasks: jointTasks,
    whyNotOthers: "the mean of the members' outputs must be the output of their product of experts",
    ownLoss: false,
    takesCommonBatches: true,
  },
  coupled: {
    isLockstep: true,
    isOneModel: false,
    splits: null,
    mayResize: false,
    exchangesOutputs: true,
    isProduct: false,
    needsSameInputs: false,
    samplers: ['shuffled', 'shared', 'sequential'],
    tasks: ['classification', 'binary', 'multi-label'],
    whyNotOthers:
      "the divergence from the ensemble's mean must follow from exchanged probabilities of classes or labels",
    ownLoss: true,
    // Every rank also draws unlabelled samples.
    takesCommonBatches: false,
  },
  'data-parallel': { ...oneModel, mayResize: true },
  sharded: { ...oneModel, splits: 'optimizer-state', mayResize: true },
  // Every rank of a model reads the same batch: the first its features, the last its targets.
  pipeline: { ...oneModel, splits: 'layers', samplers: ['shared', 'shuffled', 'sequential'], takesCommonBatches: true },
  hdet: oneModel,
};

export const strategyKinds = Object.keys(strategyRules) as readonly StrategyConfig['kind'][];

/** Whether the ranks of a model have a part of its layers each. */
export function splitsLayers(strategy: StrategyConfig): strategy is Extract<StrategyConfig, { kind: 'pipeline' }> {
  return strategyRules[strategy.kind].splits === 'layers';
}

/** Whether ranks have a part of the optimizer's state each, and on request of gradients and weights. */
export function splitsState(strategy: StrategyConfig): strategy is Extract<StrategyConfig, { kind: 'sharded' }> {
  return strategyRules[strategy.kind].splits === 'optimizer-state';
}

/** How the members of a run answer. */
export function combinationOf({ kind }: Pick<StrategyConfig, 'kind'>, task: string): Combination {
  return strategyRules[kind].isProduct ? answerOfProduct(task) : 'mean';
}

type Hdet = Extract<StrategyConfig, { kind: 'hdet' }>;

/**
 * Whether a strategy moves the scalars in which its ranks differ, so that only their first values are those of the
 * configuration.
 */
export function adapts(strategy: StrategyConfig): strategy is Hdet {
  return strategy.kind === 'hdet' && strategy.adapt && strategy.spread > 0;
}

type Sampled = Pick<RunConfig, 'sampler' | 'strategy' | 'data'>;

/** The order of samples of a run: the configured one, or the default for its strategy and data mode. */
export function samplerOf({ sampler, strategy, data }: Sampled): SamplerKind {
  if (sampler !== 'auto') return sampler;
  return data.mode === 'broadcast' ? commonSamplers[0] : strategyRules[strategy.kind].samplers[0];
}

/** The reason why the ranks of a run must do the same steps at the same time; null if they need not. */
export function lockstepReason({ strategy, data }: Pick<RunConfig, 'strategy' | 'data'>): string | null {
  if (strategyRules[strategy.kind].isLockstep) return `the strategy ${strategy.kind}`;
  return data.mode === 'broadcast' ? 'batches that the first rank broadcasts' : null;
}

/** Whether a run continues when a member is lost: its group of ranks may shrink while it trains. */
export function mayShrink({ onMemberLoss }: Pick<RunConfig, 'onMemberLoss'>): boolean {
  return onMemberLoss.kind === 'continue';
}

/** Samples that a step takes from the order of an epoch: those of all ranks where these share them out. */
export function samplesPerOrderedStep(config: Pick<RunConfig, 'batchSize' | 'members'> & Sampled): number {
  const isSharedOut = samplerOf(config).startsWith('sharded');
  return samplesPerStep(config) * (isSharedOut ? config.members : 1);
}

/** Samples per rank and step. */
export function samplesPerStep({ batchSize, strategy }: Pick<RunConfig, 'batchSize' | 'strategy'>): number {
  return batchSize * ('accumulate' in strategy ? strategy.accumulate : 1);
}
