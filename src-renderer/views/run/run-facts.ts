import { pipelinePlace } from '../../../core/pipeline/schedule.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { ownSummary, type RunEvent, type RunRecord } from '../../../core/protocol/run/record.ts';
import { memberCountOf, memberOfRank, stagesOf } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { splitsLayers, strategyRules } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import type { RunView } from '../../../core/protocol/pages/run-views.ts';
import { unknownText } from '../../../core/text/numbers.ts';

/** The time limit of a job of SLURM. */
interface TimeLimit {
  job: string;
  /** ISO 8601. */
  endsAt: string;
  /** The text, with what happens then. */
  message: string;
}

/**
 * `stage 2 of 4`, or `member 0, stage 2 of 2`: which layers a rank of a pipeline has; null for other strategies. Stages
 * count from 1.
 */
export function describePlace(config: RunConfig, rank: number): string | null {
  if (!splitsLayers(config.strategy)) return null;
  const stages = stagesOf(config);
  const { member, stage } = pipelinePlace(rank, config.members, stages);
  const own = `stage ${stage + 1} of ${stages}`;
  return memberCountOf(config) === 1 ? own : `member ${member}, ${own}`;
}

/**
 * The rank whose lines, colour and legend stand for a rank in charts: the first rank of its member where several share
 * the layers of one model and report the same losses, else itself.
 */
export function chartedRank(config: RunConfig, rank: number): number {
  return splitsLayers(config.strategy) ? memberOfRank(config, rank) : rank;
}

/** The ranks that have lines, colours and entries in legends. */
export function chartedRanks({ ranks, record }: Pick<RunView, 'ranks' | 'record'>): number[] {
  return ranks.map(({ rank }) => rank).filter((rank) => chartedRank(record.config, rank) === rank);
}

/** What these are called: members where several ranks share the layers of one. */
export function chartedNoun({ strategy }: RunConfig): 'member' | 'rank' {
  return splitsLayers(strategy) ? 'member' : 'rank';
}

/** `independent · joint early stopping`. */
export function describeStrategy({ strategy, earlyStopping }: RunConfig): string {
  if (!earlyStopping.enabled) return strategy.kind;
  return `${strategy.kind} · ${earlyStopping.joint ? 'joint early stopping' : 'early stopping'}`;
}

/**
 * Samples of an update where ranks train one model on different ones: `batch 512 = 128 × 4 ranks`; null for other
 * strategies.
 */
export function describeBatch({ strategy, batchSize, members }: RunConfig): string | null {
  if (!('accumulate' in strategy) || !strategyRules[strategy.kind].isOneModel || members === 1) return null;
  const { accumulate } = strategy;
  const factors = [batchSize, `${members} ranks`, ...(accumulate > 1 ? [`${accumulate} accumulated`] : [])];
  const samples = (batchSize * members * accumulate).toLocaleString('en');
  const isScaled = 'learningRateScaling' in strategy && strategy.learningRateScaling === 'linear';
  return `batch ${samples} = ${factors.join(' × ')}${isScaled ? `, learning rate × ${members * accumulate}` : ''}`;
}

/** When the limit of a run's job ends it, as SLURM told the attempt that trains now; null where there is none. */
export function timeLimitOf({ record, events }: Pick<RunView, 'record' | 'events'>): TimeLimit | null {
  if (record.status !== 'running') return null;
  const limit = events.findLast(({ kind }) => kind === 'time-limit');
  if (limit === undefined || limit.attempt !== record.attempts.length) return null;
  const { job, endsAt } = limit.data;
  return typeof job === 'string' && typeof endsAt === 'string' ? { job, endsAt, message: limit.message } : null;
}

/** What a run keeps if it is stopped jointly now. */
export function whatIsKept({ checkpoints }: RunConfig): string {
  const kept = [
    checkpoints.final ? "every member's final weights" : null,
    checkpoints.ensembleBest ? "every member's weights at the ensemble's best evaluation" : null,
    checkpoints.memberBest ? "every member's weights at its own best evaluation" : null,
  ].filter((part) => part !== null);
  const state = 'The state to resume from is kept.';
  return kept.length === 0 ? state : `Kept: ${kept.join(', ')}. ${state}`;
}

/** Why a running run that is not in reach cannot be controlled. */
export function whyNotInReach({ remote }: RunRecord): string {
  if (remote?.link === 'lost') return `The link to ${remote.from} is lost. It is being made again.`;
  if (remote !== undefined)
    return `This run trains on ${remote.from}, and nothing follows it now. Follow it again to control it.`;
  return 'This run trains on another machine. Control it there.';
}

/** Steps of an epoch; null where they are not known yet or a limit of steps ends the run within an epoch. */
export function stepsPerEpoch({ record, totalSteps }: Pick<RunView, 'record' | 'totalSteps'>): number | null {
  const { maxSteps, maxEpochs } = record.config;
  return maxSteps > 0 || totalSteps === null ? null : totalSteps / maxEpochs;
}

/** The current epoch of the furthest rank, counted from 1. */
export function currentEpoch({ ranks, record }: Pick<RunView, 'ranks' | 'record'>): number {
  const furthest = Math.max(0, ...ranks.map(({ epoch }) => epoch + 1));
  return Math.min(ownSummary(record)?.epochs ?? furthest, record.config.maxEpochs);
}

/** What the window's title says of a run: its name, and how far it is, or how it ended. */
export function titleOf(view: RunView): string {
  const { record, row } = view;
  const state = record.status === 'running' ? `epoch ${currentEpoch(view)}/${record.config.maxEpochs}` : record.status;
  return `${row.name} · ${state}`;
}

/**
 * The member's metric for an ensemble's metric: `val/member_3_nll` for `val/ens_nll` or `val/product_nll` and rank 3.
 */
export function memberMetric(ensembleMetric: string, rank: number): string {
  return ensembleMetric.replace(/\/(ens|product)_/, `/member_${rank}_`);
}

/** The subject of an ensemble's metric, in words. */
export function subjectOf(ensembleMetric: string, config: RunConfig): string {
  if (ensembleMetric.includes('/product_')) return 'Product of experts';
  return memberCountOf(config) === 1 ? 'Model' : 'Ensemble';
}

/** Whether a run was paused and has not continued since. */
export function isPausedBy(events: readonly RunEvent[]): boolean {
  return events.findLast(({ kind }) => pauseKinds.has(kind))?.kind === 'paused';
}

const pauseKinds = new Set(['paused', 'resumed', 'stop-requested', 'started']);

/** How often a rank's process was started again, by a resume or a restart. Restarts of other waves do not count. */
export function restartsOf({ record, events }: Pick<RunView, 'record' | 'events'>, rank: number): number {
  const ofOthers = events.filter(
    ({ kind, data }) => kind === 'restarted' && Array.isArray(data.ranks) && !data.ranks.includes(rank),
  );
  return record.attempts.length - 1 - ofOthers.length;
}

/** `12.3k`: 3 significant digits, as rates are shown; `–` for none. */
export function formatRate(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return unknownText;
  return value >= 1000 ? `${Number((value / 1000).toPrecision(3))}k` : String(Number(value.toPrecision(3)));
}

/** `acc` as `Accuracy`, `avg_member_nll` as `Avg member NLL`. */
export function metricTitle(metric: string): string {
  const acronyms = new Set(['nll', 'ece', 'mse', 'lr']);
  if (metric === 'acc') return 'Accuracy';
  if (metric === 'ambiguity') return 'Diversity gain';
  const words = metric.split('_').map((word) => (acronyms.has(word) ? word.toUpperCase() : word));
  const title = words.join(' ');
  return `${title[0].toUpperCase()}${title.slice(1)}`;
}

export const tabs = [
  { id: 'live', title: 'Live' },
  { id: 'ensemble', title: 'Ensemble' },
  { id: 'predict', title: 'Predict' },
  { id: 'checkpoints', title: 'Checkpoints' },
  { id: 'logs', title: 'Logs' },
  { id: 'configuration', title: 'Configuration' },
] as const;

export type TabId = (typeof tabs)[number]['id'];

/** The tab in an address; the first where it names none. */
export function tabOf(text: string | undefined): TabId {
  return tabs.find(({ id }) => id === text)?.id ?? 'live';
}

/**
 * Why a run ended, in a few words for its status; null while it trains, and where the status or the error below it says
 * all.
 */
export function endReason(record: Pick<RunRecord, 'summary' | 'attempts' | 'config' | 'status'>): string | null {
  if (record.status !== 'finished' && record.status !== 'stopped') return null;
  switch (ownSummary(record)?.stopReason) {
    case 'early-stopping':
      return `stopped early: no improvement for ${countEvaluations(record.config.earlyStopping.patience)}`;
    case 'requested':
      return 'on request';
    default:
      return null;
  }
}

function countEvaluations(count: number): string {
  return count === 1 ? '1 evaluation' : `${count} evaluations`;
}
