import type { Combined, CombineTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { CheckpointRecord } from '../../core/protocol/run/record.ts';
import { saveCheckpoint } from '../checkpoints/checkpoint-store.ts';
import { keepTopology } from '../checkpoints/model-topology.ts';
import type { Splits } from '../data/dataset.ts';
import { joinStacks, type Predictions } from '../member/predictions.ts';
import { RunFiles } from '../member/run-files.ts';
import type { Task } from '../member/tasks.ts';
import { comparisonSplit, splitByMember } from '../training/evaluate-sets.ts';
import type { Candidates } from './candidates.ts';
import type { MemberDraft } from './draft-members.ts';

/** A member of the new ensemble. */
export interface Member extends MemberDraft {
  epoch: number;
  step: number;
  /** What chose its checkpoint in its run; null if it is no copy of one. */
  score: Pick<CheckpointRecord, 'monitor' | 'score'> | null;
  /** For the validation split. */
  predictions: Predictions;
}

/** Writes checkpoints, architectures, targets and predictions for validation of all members into the new run's folder. */
export async function writeMembers(
  { into, set }: Pick<CombineTask, 'into' | 'set'>,
  members: readonly Member[],
  { validation, test }: Splits,
): Promise<void> {
  for (const [rank, { topology, tensors, epoch, step, score, predictions }] of members.entries()) {
    const model = await keepTopology(into, rank, topology);
    const { monitor, score: value } = score ?? { monitor: null, score: null };
    await saveCheckpoint(into, { rank, name: set, epoch, step, monitor, score: value, model, tensors });
    await new RunFiles(into, rank).savePredictions('validation', set, predictions, epoch);
  }
  const files = new RunFiles(into, 0);
  if (validation !== undefined) await files.saveTargets('validation', validation);
  if (test !== undefined) await files.saveTargets('test', test);
}

/** Evaluates the members on the validation split, and as a training run does on test, or on validation without a test split. */
export async function evaluateMembers(
  { into, set }: Pick<CombineTask, 'into' | 'set'>,
  candidates: Candidates,
  { members, task, data }: { members: readonly Member[]; task: Task; data: Splits },
): Promise<Pick<Combined, 'validation' | 'evaluated'>> {
  const compared = comparisonSplit(data);
  if (compared === null || data.validation === undefined) throw new Error('There is no split to evaluate on.');
  const { split, dataset } = compared;
  const ofValidation = stackOf(members.map(({ predictions }) => predictions));
  const validation = [...task.metrics(ofValidation, data.validation)].map(([name, value]) => [`val/${name}`, value]);
  const stack =
    split === 'validation'
      ? ofValidation
      : stackOf(await predictTest(into, set, candidates, { members, task, dataset }));
  const labels = task.labelScores?.(stack, dataset);
  const evaluated = {
    set,
    split,
    ranks: stack.ranks,
    epochs: members.map(({ epoch }) => epoch),
    ...splitByMember(task.metrics(stack, dataset), stack.ranks),
    ...(labels && { labels }),
  };
  return { validation: Object.fromEntries(validation) as Record<string, number>, evaluated };
}

function stackOf(predictions: readonly Predictions[]) {
  return joinStacks(predictions.map((own, rank) => ({ ...own, ranks: [rank] })));
}

/** Predictions of all members for the test split, which are kept. A member that repeats is computed once. */
async function predictTest(
  into: string,
  set: CombineTask['set'],
  candidates: Candidates,
  { members, task, dataset }: { members: readonly Member[]; task: Task; dataset: NonNullable<Splits['test']> },
): Promise<Predictions[]> {
  const known = new Map<Member, Predictions>();
  const all: Predictions[] = [];
  for (const [rank, member] of members.entries()) {
    const own = known.get(member) ?? (await candidates.predict(member, dataset, task));
    known.set(member, own);
    all.push(own);
    await new RunFiles(into, rank).savePredictions('test', set, own, member.epoch);
  }
  return all;
}
