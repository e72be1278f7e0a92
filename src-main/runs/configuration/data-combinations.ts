import type { ConfigProblem } from '../../../core/options/index.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { memberCountOf } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { commonSamplers, samplerOf, strategyRules } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { holdsOut } from '../../../core/protocol/run/data-config.ts';
import { whyNotMapped } from '../../processes/app-files.ts';

/** Conflicts of the options `data`: how samples reach the ranks, and which samples each rank has. */
export function conflictsOfData(config: RunConfig): ConfigProblem[] {
  return [
    ...conflictsOfMode(config),
    ...conflictsOfOwnSamples(config),
    ...conflictsOfHoldOut(config),
    ...folds(config),
  ];
}

/** Checks that all ranks can train on one rank's batches, or that this machine can map files into memory. */
function conflictsOfMode({ data, strategy, sampler }: RunConfig): ConfigProblem[] {
  const path = 'data.mode';
  if (data.mode === 'shared') {
    const reason = whyNotMapped();
    return reason === null ? [] : [{ path, message: `${reason} Use --data.mode local.` }];
  }
  if (data.mode === 'local') return [];
  if (!strategyRules[strategy.kind].takesCommonBatches) {
    const message =
      `With the strategy ${strategy.kind} every rank needs different samples, so the first cannot broadcast its ` +
      'batches. Use --data.mode local or shared.';
    return [{ path, message }];
  }
  if (sampler === 'auto' || commonSamplers.includes(sampler)) return [];
  const message =
    `With --data.mode broadcast all ranks train on the same batches, which --sampler ${sampler} does not give: it ` +
    `needs ${commonSamplers.join(' or ')}. Leave it at auto, which takes ${commonSamplers[0]}.`;
  return [{ path: 'sampler', message }];
}

/** Ranks with bootstrap samples or hold-outs must be members that each train on separate samples. */
function conflictsOfOwnSamples({ data, strategy, sampler }: RunConfig): ConfigProblem[] {
  const order = samplerOf({ data, strategy, sampler });
  if (order === 'shuffled') return [];
  const where =
    `gives every rank different samples, but here the order of samples is that of --sampler ${order} (strategy ` +
    `${strategy.kind}, --data.mode ${data.mode}). Use the strategy independent or coupled with --sampler shuffled, ` +
    'or';
  const conflicts: ConfigProblem[] = [];
  if (data.bagging) conflicts.push({ path: 'data.bagging', message: `Bagging ${where} --data.bagging false.` });
  if (data.holdOut > 0)
    conflicts.push({ path: 'data.holdOut', message: `A hold-out of each rank ${where} --data.hold-out 0.` });
  if (data.foldPerRank)
    conflicts.push({ path: 'data.foldPerRank', message: `A fold of each rank ${where} --data.fold-per-rank false.` });
  return conflicts;
}

function conflictsOfHoldOut(config: RunConfig): ConfigProblem[] {
  const { data, onMemberLoss } = config;
  const { holdOut } = data;
  const members = memberCountOf(config);
  const conflicts: ConfigProblem[] = [];
  if (holdsOut(data) && onMemberLoss.kind === 'continue') {
    const message =
      'The samples that a lost member held out would have no other member to validate on. Use --on-member-loss ' +
      'restart or stop.';
    conflicts.push({ path: 'onMemberLoss.kind', message });
  }
  if (holdOut === 0) return conflicts;
  if (members === 1) {
    const message =
      'Each held-out sample is held out by two members, and this run has one. Use --members 2 or more, or a ' +
      'validation split.';
    return [...conflicts, { path: 'data.holdOut', message }];
  }
  if ((members * holdOut) / 2 > 1) {
    const message =
      `${members} members that hold out ${holdOut} of the samples each, every sample by two of them, need ` +
      `${(members * holdOut) / 2} times the samples that there are. With ${members} members, data.holdOut is at ` +
      `most 2 / ${members}.`;
    conflicts.push({ path: 'data.holdOut', message });
  }
  return conflicts;
}

function folds(config: RunConfig): ConfigProblem[] {
  const { data } = config;
  const members = memberCountOf(config);
  const { folds: count, fold, foldPerRank, holdOut } = data;
  if (count === 0) {
    const path = foldPerRank ? 'data.foldPerRank' : 'data.fold';
    const message = `--${foldPerRank ? 'data.fold-per-rank' : 'data.fold'} needs the number of folds. Give --data.folds 5.`;
    return foldPerRank || fold > 0 ? [{ path, message }] : [];
  }
  if (count === 1) {
    const message = 'One fold would hold out all samples. Use --data.folds 2 or more, or 0 for none.';
    return [{ path: 'data.folds', message }];
  }
  if (!foldPerRank && fold >= count) {
    const message = `There is no fold ${fold} of ${count}. Use --data.fold 0 to ${count - 1}.`;
    return [{ path: 'data.fold', message }];
  }
  if (!foldPerRank) return [];
  if (holdOut > 0) {
    const message =
      `Each rank holds out either its fold or ${holdOut} of the samples. Use --data.hold-out 0 or ` +
      '--data.fold-per-rank false.';
    return [{ path: 'data.holdOut', message }];
  }
  if (members % count === 0) return [];
  const message =
    `${members} members cannot hold out ${count} folds equally often. Use as many members as folds, or a ` +
    'multiple of that.';
  return [{ path: 'data.foldPerRank', message }];
}
