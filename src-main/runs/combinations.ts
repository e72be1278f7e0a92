import type { Placement } from '../../protocol/devices.ts';
import type { ConfigProblem } from '../../protocol/options.ts';
import type { RunConfig } from '../../protocol/run-config.ts';
import { strategyRules } from '../../protocol/strategy-rules.ts';

/** @throws when parts of a configuration exclude each other, with the reason and the way out */
export function refuseCombinations(config: RunConfig, plan: readonly Placement[]): void {
  const [conflict] = findConflicts(config, plan);
  if (conflict !== undefined) throw new Error(conflict.message);
}

/** Parts of a configuration that exclude each other, with the reason and the way out. */
export function findConflicts(config: RunConfig, plan: readonly Placement[]): ConfigProblem[] {
  const waves = 1 + Math.max(...plan.map(({ wave }) => wave));
  return [...conflictsOfJointStopping(config, waves), ...conflictsOfStrategy(config, waves)];
}

function conflictsOfJointStopping({ earlyStopping, members }: RunConfig, waves: number): ConfigProblem[] {
  if (!earlyStopping.enabled || !earlyStopping.joint) return [];
  const conflicts: ConfigProblem[] = [];
  if (earlyStopping.monitor.includes('{rank}')) {
    const message =
      `Joint early stopping cannot monitor "${earlyStopping.monitor}": that differs from rank to rank. Monitor a metric of the ` +
      'ensemble (val/ens_nll, say), or let each rank stop by itself with --early-stopping.joint false.';
    conflicts.push({ path: 'earlyStopping.monitor', message });
  }
  if (waves > 1) {
    const message =
      `Joint early stopping needs all ${members} members to train at the same time, but this plan has ${waves} waves. ` +
      'Use --placement share, fewer members, or --early-stopping.joint false.';
    conflicts.push({ path: 'earlyStopping.joint', message });
  }
  return conflicts;
}

function conflictsOfStrategy(config: RunConfig, waves: number): ConfigProblem[] {
  const { strategy, sampler } = config;
  const { isLockstep, samplers } = strategyRules[strategy.kind];
  const conflicts = isLockstep ? conflictsOfLockstep(config, waves) : [];
  if (sampler !== 'auto' && !samplers.includes(sampler)) {
    const message =
      `The strategy ${strategy.kind} cannot train with --sampler ${sampler}: it needs ${samplers.join(' or ')}. ` +
      'Leave it at auto, which takes the first of them.';
    conflicts.push({ path: 'sampler', message });
  }
  return conflicts;
}

/** Ranks that exchange at every step cannot do without one of them. */
function conflictsOfLockstep({ strategy, earlyStopping, members }: RunConfig, waves: number): ConfigProblem[] {
  const conflicts: ConfigProblem[] = [];
  if (waves > 1) {
    const message =
      `With the strategy ${strategy.kind} all ${members} members train at the same time, but this plan has ${waves} waves. ` +
      'Use --placement share or fewer members.';
    conflicts.push({ path: 'placement', message });
  }
  if (earlyStopping.enabled && !earlyStopping.joint) {
    const message =
      `With the strategy ${strategy.kind} no rank can stop before the others, which need it at every step. ` +
      'Use --early-stopping.joint true.';
    conflicts.push({ path: 'earlyStopping.joint', message });
  }
  return conflicts;
}
