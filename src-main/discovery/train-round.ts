import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Belief, beliefOf, type Goal } from '../../core/discovery/belief.ts';
import { balancedWeights } from '../../core/discovery/progress.ts';
import type { Search, SearchGoal } from '../../core/discovery/search.ts';
import { combinationOf, strategyRules } from '../../core/protocol/run/strategies/strategy-rules.ts';
import { combineMembers } from '../../core/ensemble/combine-members.ts';
import type { MemberOutputStack } from '../../core/ensemble/predictions.ts';
import { taskKinds } from '../../core/metrics/registry/metric.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { memberRanksOf } from '../../core/protocol/run/lost-members.ts';
import type { Labels } from '../../core/protocol/run/pool-task.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import type { PlannedRun } from '../hub/plan-run.ts';
import { startRun } from '../hub/start-run.ts';
import type { WorkerHost } from '../runs/workers/worker-host.ts';
import type { RunIndex } from '../store/index/run-index.ts';
import { readTensors } from '../store/runs/safetensors-reader.ts';
import { searchPaths } from './search-folder.ts';

/** What a search trains with. */
export interface TrainingParts {
  folder: string;
  search: Search;
  planned: PlannedRun;
  /** The names of the pool's classes, in the order of the search's numbers; null: it has none. */
  classNames: string[] | null;
  /** The index of the search's own runs. */
  index: RunIndex;
  /** Keeps the worker processes from round to round. */
  host: WorkerHost;
}

/** A round's ensemble: what it predicts of the pool, and its metrics on the test split. */
export interface TrainedRound {
  belief: Belief;
  metrics: Record<string, number>;
}

/** A round of an arm, from 1. */
export interface RoundPlace {
  arm: string;
  round: number;
}

/** The folder of a round's run. All arms share their first round, which trains on the same labels. */
export function roundFolder(folder: string, { arm, round }: RoundPlace): string {
  return join(searchPaths(folder).runs, round === 1 ? 'start-1' : `${arm}-${round}`);
}

/**
 * Trains the ensemble of a round on its labels, and reads what it predicts of the pool.
 * @param labels by candidate, in the order in which they came
 * @throws Error if the run fails; AbortError if the signal aborts
 */
export async function trainRound(
  { folder, search, planned, classNames, index, host }: TrainingParts,
  { arm, round }: RoundPlace,
  labels: ReadonlyMap<number, number>,
  signal: AbortSignal,
): Promise<TrainedRound> {
  const runFolder = roundFolder(folder, { arm, round });
  // What an interrupted round left: training is repeated bit for bit.
  await removeRun(runFolder, index);
  const targets = [...labels.values()];
  const weights = search.hasClassWeights ? { weights: balancedWeights(targets) } : {};
  const config = roundConfig(search, folder, { arm, round });
  const run = {
    ...planned,
    config,
    folder: runFolder,
    id: `${search.id}-${arm}-${round}`.slice(-200),
    name: `${search.name}: ${arm}, round ${round}`,
  };
  const names = classNames === null ? {} : { classNames };
  const given: Labels = { format: 1, rows: [...labels.keys()], targets, ...names, ...weights };
  const session = startRun(run, index, () => undefined, { labels: given, host });
  const abort = (): void => session.abort();
  signal.addEventListener('abort', abort);
  try {
    const record = await session.run();
    signal.throwIfAborted();
    if (record.status !== 'finished') throw failure(record, { arm, round, runFolder });
    return { belief: await readBelief(runFolder, record, search.goal), metrics: metricsOf(record) };
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Removes a round's run. */
export async function removeRun(runFolder: string, index: RunIndex): Promise<void> {
  await rm(runFolder, { recursive: true, force: true });
  index.remove(runFolder);
}

/** What each round changes: where it starts from, and how often its ranks meet. */
function roundConfig({ config: given, isWarm }: Search, folder: string, { arm, round }: RoundPlace): RunConfig {
  const config = { ...given, evaluateEveryEpochs: epochsBetweenEvaluations(given) };
  if (!isWarm || round === 1) return config;
  const before = roundFolder(folder, { arm, round: round - 1 });
  const checkpoint = join(before, 'checkpoints', 'rank-{rank}', 'final.safetensors');
  return { ...config, warmStart: { ...config.warmStart, checkpoint, strict: true } };
}

/**
 * A search uses the last weights alone: ranks that exchange nothing meet only at the end, unless an evaluation decides
 * something. The weights are the same.
 */
export function epochsBetweenEvaluations({
  evaluateEveryEpochs,
  maxEpochs,
  strategy,
  earlyStopping,
  schedule,
}: Pick<RunConfig, 'evaluateEveryEpochs' | 'maxEpochs' | 'strategy' | 'earlyStopping' | 'schedule'>): number {
  const isDeciding = earlyStopping.enabled || schedule.kind === 'plateau' || strategyRules[strategy.kind].isLockstep;
  return isDeciding ? evaluateEveryEpochs : Math.max(evaluateEveryEpochs, maxEpochs);
}

function failure({ error, status }: RunRecord, { arm, round, runFolder }: RoundPlace & { runFolder: string }): Error {
  const reason = error?.message ?? `it ended as ${status}`;
  const place =
    error?.rank == null ? '' : ` (rank ${error.rank}, device ${error.device ?? 'unknown'}, step ${error.step ?? 0})`;
  return new Error(`Round ${round} of ${arm} could not be trained${place}: ${reason}\nIts run is in ${runFolder}.`);
}

function metricsOf({ summary }: RunRecord): Record<string, number> {
  return summary?.evaluatedSets.find(({ set }) => set === 'final')?.ensemble ?? {};
}

/** What the members of a run predict of the pool. */
async function readBelief(runFolder: string, record: RunRecord, goal: SearchGoal): Promise<Belief> {
  const { config, task } = record;
  const members = await Promise.all(
    memberRanksOf(record).map((rank) =>
      readTensors(runFolder, join('predictions', 'pool', `rank-${rank}`, 'final.safetensors')),
    ),
  );
  const [{ tensors: first }] = members;
  const names = [...first.keys()].filter((name) => !name.includes(':'));
  const [samples, width] = first.get(names[0])?.shape ?? [];
  const values = names.map((name) =>
    joined(members.map(({ tensors }) => tensors.get(name)?.data ?? new Float32Array(0))),
  );
  const kind = names[0] === 'logits' ? 'logits' : 'values';
  const stack: MemberOutputStack = { kind, members: members.length, samples, width, values };
  const known = taskKinds.find((own) => own === task);
  if (known === undefined)
    throw new Error(`The task ${task} of the run in ${runFolder} is unknown to this version of Tutti.`);
  const wanted: Goal = goal.kind === 'class' ? goal : { kind: goal.kind };
  return beliefOf(combineMembers(stack, { task: known, combination: combinationOf(config.strategy, known) }), wanted);
}

function joined(parts: readonly ArrayLike<number>[]): Float32Array {
  const size = parts[0].length;
  const whole = new Float32Array(parts.length * size);
  parts.forEach((part, at) => whole.set(part, at * size));
  return whole;
}
