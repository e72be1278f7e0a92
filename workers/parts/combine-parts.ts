import { usualQuantiles } from '../../core/metrics/registry/metric.ts';
import type { Combined, CombineTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { Dataset, Splits } from '../data/dataset.ts';
import { joinStacks, type Predictions } from '../member/predictions.ts';
import type { Task } from '../member/tasks.ts';
import { Candidates } from './candidates.ts';
import { type Choice, chooseMembers, chooseWithoutSamples } from './choose-members.ts';
import { type Criterion, criterionOf } from './criterion.ts';
import { draftMembers, meanDraft, type MemberDraft } from './draft-members.ts';
import type { CheckpointRecord } from '../../core/protocol/run/record.ts';
import { saveCheckpoint } from '../checkpoints/checkpoint-store.ts';
import { keepTopology } from '../checkpoints/layers-model.ts';
import { RunFiles } from '../member/run-files.ts';
import { comparisonSplit, splitByMember } from '../training/evaluate-sets.ts';

interface Held {
  task: Task;
  validation: Dataset;
  /** Of each candidate on the validation split. */
  predictions: Predictions[];
  criterion: Criterion;
  /** Of each candidate, as the criterion takes them. */
  rows: Float64Array[];
}

/**
 * Chooses members from checkpoints, writes them into a new run's folder and evaluates them. Requires a started backend.
 * @throws Error where the data have no validation split, or a run has other targets
 */
export async function combineParts(request: CombineTask): Promise<Combined> {
  const candidates = new Candidates(request);
  const { task, data, project } = await candidates.project();
  const validation = requireValidation(data);
  await candidates.requireSameTargets(validation);
  const held = await readHeld(candidates, task, validation, project.quantiles ?? usualQuantiles);
  const choice = await choose(request, candidates, held, data.train);
  const members = await membersOf(await draftMembers(request, candidates, choice, data.train), candidates, held);
  await writeMembers(request, members, data);
  const evaluation = await evaluateMembers(request, candidates, { members, task, data });
  const records = await Promise.all(request.candidates.map((_, candidate) => candidates.record(candidate)));
  return {
    ...choice,
    positions: records.map(({ epoch, step }) => ({ epoch, step })),
    criterion: held.criterion.name,
    losses: lossesOf(held, members),
    ...evaluation,
    monitor: task.ensembleMonitor,
    warnings: candidates.warnings,
  };
}

function requireValidation({ validation }: Splits): Dataset {
  if (validation === undefined) {
    throw new Error(
      "The project's data has no validation split, and members are chosen on samples that they did not train " +
        'on. Give it one in data().',
    );
  }
  if (validation.heldOutBy === undefined) return validation;
  throw new Error(
    'Each member held out other samples of the validation split and trained on the rest, so members cannot be ' +
      'compared on it. Use runs without data.holdOut and data.foldPerRank.',
  );
}

async function readHeld(
  candidates: Candidates,
  task: Task,
  validation: Dataset,
  levels: readonly number[],
): Promise<Held> {
  const predictions: Predictions[] = [];
  // One after the other: memory may not hold all models at once.
  for (let candidate = 0; candidate < candidates.count; candidate++) {
    predictions.push(await candidates.predictions(candidate, 'validation', validation, task));
  }
  const criterion = criterionOf(predictions, validation, task.kind, levels);
  return { task, validation, predictions, criterion, rows: predictions.map(criterion.rowOf) };
}

async function choose(request: CombineTask, candidates: Candidates, held: Held, train: Dataset): Promise<Choice> {
  const innerMembers = request.method === 'unroll' ? await candidates.innerMembers() : [];
  const asked = { ...request, count: candidates.count, trajectories: candidates.trajectories, innerMembers };
  const fixed = chooseWithoutSamples(asked);
  if (fixed !== null) return fixed;
  const { task, validation, criterion, rows } = held;
  return chooseMembers(asked, {
    criterion,
    rows,
    ofMean: async (chosen) =>
      criterion.rowOf(await candidates.predict(await meanDraft(candidates, chosen, train), validation, task)),
  });
}

async function membersOf(drafts: readonly MemberDraft[], candidates: Candidates, held: Held): Promise<Member[]> {
  const { task, validation, predictions } = held;
  const known = new Map<MemberDraft, Member>();
  const found: Member[] = [];
  for (const draft of drafts) {
    let member = known.get(draft);
    if (member === undefined) {
      const records = await Promise.all(draft.parts.map((part) => candidates.record(part)));
      member = {
        ...draft,
        epoch: Math.max(...records.map(({ epoch }) => epoch)),
        step: Math.max(...records.map(({ step }) => step)),
        score: draft.isCopy ? records[0] : null,
        predictions: draft.isCopy ? predictions[draft.parts[0]] : await candidates.predict(draft, validation, task),
      };
      known.set(draft, member);
    }
    found.push(member);
  }
  return found;
}

function lossesOf({ criterion, rows }: Held, members: readonly Member[]): Combined['losses'] {
  return {
    candidates: rows.map((row) => criterion.lossOf([row])),
    all: criterion.lossOf(rows),
    chosen: criterion.lossOf(members.map(({ predictions }) => criterion.rowOf(predictions))),
  };
}

/** A member of the new ensemble. */
interface Member extends MemberDraft {
  epoch: number;
  step: number;
  /** What chose its checkpoint in its run; null if it is no copy of one. */
  score: Pick<CheckpointRecord, 'monitor' | 'score'> | null;
  /** The predictions of the validation split. */
  predictions: Predictions;
}

/**
 * Writes checkpoints, architectures, targets and predictions for validation of all members into the new run's folder.
 */
async function writeMembers(
  { into, set }: Pick<CombineTask, 'into' | 'set'>,
  members: readonly Member[],
  data: Splits,
): Promise<void> {
  for (const [rank, { topology, tensors, epoch, step, score, predictions }] of members.entries()) {
    const model = await keepTopology(into, rank, topology);
    const { monitor, score: value } = score ?? { monitor: null, score: null };
    await saveCheckpoint(into, { rank, name: set, epoch, step, monitor, score: value, model, tensors });
    await new RunFiles(into, rank).savePredictions('validation', set, predictions, epoch);
  }
  await new RunFiles(into, 0).saveTargets(data);
}

/**
 * Evaluates the members on the validation split, and as a training run does on test, or on validation without a test
 * split.
 */
async function evaluateMembers(
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
