import { usualQuantiles } from '../../core/metrics/registry/task-kinds.ts';
import type { Combined, CombineTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { Dataset, Splits } from '../data/dataset.ts';
import type { Predictions } from '../member/predictions.ts';
import type { Task } from '../member/tasks.ts';
import { Candidates } from './candidates.ts';
import { type Choice, chooseMembers, chooseWithoutSamples } from './choose-members.ts';
import { type Criterion, criterionOf } from './criterion.ts';
import { draftMembers, meanDraft, type MemberDraft } from './draft-members.ts';
import { evaluateMembers, type Member, writeMembers } from './write-members.ts';

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
      "The project's data has no validation split, and members are chosen on samples that they did not train on. Give it one in data().",
    );
  }
  if (validation.heldOutBy === undefined) return validation;
  throw new Error(
    'Each member held out other samples of the validation split and trained on the rest, so members cannot be compared on it. ' +
      'Use runs without data.holdOut and data.foldPerRank.',
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
