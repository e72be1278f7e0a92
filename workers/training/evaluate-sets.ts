import { messageOf } from '../../core/text/errors.ts';
import type { EvaluatedSet } from '../../core/protocol/run/record.ts';
import type { Checkpoint } from '../checkpoints/checkpoint-store.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import type { Dataset, Splits } from '../data/dataset.ts';
import type { SpreadModel } from '../strategies/strategy.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { gatherPredictions, predictOfRank } from '../member/predict.ts';
import { joinStacks, type MemberOutputs } from '../member/predictions.ts';
import type { RunFiles, Split } from '../member/run-files.ts';
import type { Task } from '../member/tasks.ts';
import { writeWeights } from '../member/weights.ts';

type SetName = EvaluatedSet['set'];

export interface SetEvaluation {
  model: LayersModel;
  task: Task;
  data: Splits;
  group: ProcessGroup;
  /** Ranks that have ended, whose predictions lie in the run folder. */
  earlierRanks: readonly number[];
  /** Those of the member that is evaluated. */
  files: RunFiles;
  /** Epoch of the model's current weights. */
  epoch: number;
  /** Where the layers of one model are spread over ranks, each of which evaluates: the model and its ranks. */
  spread?: { model: SpreadModel; ranks: ProcessGroup } | undefined;
}

export interface SetsOutcome {
  evaluated: EvaluatedSet[];
  /** Sets for which some rank has no checkpoint, or a damaged one. */
  incomplete: SetName[];
  /** Why this rank's own checkpoints could not be read. */
  damages: string[];
  /** All members' predictions with their last weights. */
  predictions: MemberOutputs;
}

/** The split to compare sets on: test, or validation where there is no test split. */
export function comparisonSplit(data: Splits): { split: Split; dataset: Dataset } | null {
  if (data.test !== undefined) return { split: 'test', dataset: data.test };
  if (data.validation !== undefined) return { split: 'validation', dataset: data.validation };
  return null;
}

/**
 * Evaluates members and ensemble with the last weights, then with each set of checkpoints (each rank loads its own).
 * Leaves the model with the last set's weights.
 */
export async function evaluateSets(
  evaluation: SetEvaluation,
  { split, dataset }: { split: Split; dataset: Dataset },
  names: readonly Exclude<SetName, 'final'>[],
): Promise<SetsOutcome> {
  const last = await evaluateSet(evaluation, split, dataset, 'final', evaluation.epoch);
  const outcome: SetsOutcome = { evaluated: [], incomplete: [], damages: [], predictions: last.stack };
  keepSet(outcome, last);
  for (const name of names) {
    const checkpoint = await readUnlessDamaged(evaluation.files, name, outcome.damages);
    if (
      !(await everyRankHas(evaluation.spread?.ranks ?? evaluation.group, checkpoint !== null)) ||
      checkpoint === null
    ) {
      outcome.incomplete.push(name);
      continue;
    }
    writeWeights(evaluation.model, checkpoint.tensors, `Checkpoint "${name}" of rank ${evaluation.files.rank}`);
    keepSet(outcome, await evaluateSet(evaluation, split, dataset, name, checkpoint.record.epoch));
  }
  return outcome;
}

/** @returns null if there is none, or it is damaged: that must not lose what was trained */
async function readUnlessDamaged(files: RunFiles, name: SetName, damages: string[]): Promise<Checkpoint | null> {
  try {
    return await files.readCheckpointIfAny(name);
  } catch (error) {
    damages.push(`Checkpoint "${name}" of rank ${files.rank} is not evaluated: ${messageOf(error)}`);
    return null;
  }
}

/** An evaluation without a member that has ended is none of the ensemble. */
function keepSet({ evaluated, incomplete }: SetsOutcome, { set, isWhole }: EvaluatedStack): void {
  if (isWhole) evaluated.push(set);
  else incomplete.push(set.set);
}

interface EvaluatedStack {
  stack: MemberOutputs;
  set: EvaluatedSet;
  isWhole: boolean;
}

async function evaluateSet(
  evaluation: SetEvaluation,
  split: Split,
  dataset: Dataset,
  name: SetName,
  epoch: number,
): Promise<EvaluatedStack> {
  const { model, task, group, files, earlierRanks } = evaluation;
  const { spread } = evaluation;
  const own = await (spread?.model.predict(dataset) ?? predictOfRank(model, task, dataset, files.rank));
  if (spread === undefined || spread.ranks.rank === files.rank) await files.savePredictions(split, name, own, epoch);
  const kept = await Promise.all(earlierRanks.map((rank) => files.readPredictions(split, rank, name)));
  const earlier = kept.filter((predictions) => predictions !== null);
  const epochs = new Map(earlier.map((predictions) => [predictions.ranks[0], predictions.epoch]));
  const present = await group.allGather(Int32Array.of(epoch));
  group.ranks.forEach((rank, position) => epochs.set(rank, present[position][0]));
  // Comes last: a rank that was lost meanwhile takes no part.
  const stack = joinStacks([...earlier, await gatherPredictions(group, own)]);
  const { ranks } = stack;
  const set = splitByMember(task.metrics(stack, dataset), ranks);
  // Members that held out different samples make no ensemble of the same ones.
  const labels = dataset.heldOutBy === undefined ? task.labelScores?.(stack, dataset) : undefined;
  const isWhole = earlier.length === earlierRanks.length;
  return {
    stack,
    isWhole,
    set: {
      set: name,
      split,
      ranks,
      epochs: ranks.map((rank) => epochs.get(rank) ?? epoch),
      ...set,
      ...(labels && { labels }),
    },
  };
}

async function everyRankHas(group: ProcessGroup, present: boolean): Promise<boolean> {
  const [all] = await group.allReduce(Uint8Array.of(Number(present)), 'min');
  return all === 1;
}

/**
 * Splits metrics by name: `member_3_nll` goes to `members.nll`, at rank 3's position; `ens_nll` goes to `ensemble.nll`.
 * Those of a further output keep its name: `age/ens_mse` goes to `ensemble['age/mse']`.
 */
export function splitByMember(metrics: ReadonlyMap<string, number>, ranks: readonly number[]) {
  const ensemble: Record<string, number> = {};
  const members: Record<string, number[]> = {};
  for (const [name, value] of metrics) {
    const [, output, rank, short] = /^(.+\/)?member_(\d+)_(.+)$/.exec(name) ?? [];
    if (rank === undefined) ensemble[name.replace(/(^|\/)ens_/, '$1')] = value;
    else (members[`${output ?? ''}${short}`] ??= ranks.map(() => NaN))[ranks.indexOf(Number(rank))] = value;
  }
  return { ensemble, members };
}
