import type { RunConfig } from '../../core/protocol/run/config.ts';

/**
 * What a strategy multiplies the base learning rate by at a step s. By the linear scaling rule that is k = N · A for N
 * ranks that accumulate A batches, after a warm-up of W steps: 1 + (k − 1) · min(1, (s + 1) / W). A warm-up of the
 * schedule comes on top.
 *
 * Goyal et al. (2017), "Accurate, large minibatch SGD: training ImageNet in 1 hour", sections 2.1 and 2.2.
 */
export function rateScale({ strategy, members: ranks }: Pick<RunConfig, 'strategy' | 'members'>, step: number): number {
  if (!('learningRateScaling' in strategy) || strategy.learningRateScaling === 'none') return 1;
  const growth = ranks * strategy.accumulate - 1;
  const { scalingWarmupSteps } = strategy;
  return step + 1 >= scalingWarmupSteps ? 1 + growth : 1 + (growth * (step + 1)) / scalingWarmupSteps;
}
