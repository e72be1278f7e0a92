import type { RunConfig } from '../../core/protocol/run/config.ts';
import { samplesPerStep } from '../../core/protocol/run/strategies/strategy-rules.ts';
import type { Project } from '../project/define-project.ts';
import type { LossFunction, Member } from '../member/member.ts';
import type { Task } from '../member/tasks.ts';
import { updateRuleOf } from '../optimizers/optimizers.ts';
import { MemberStack, type StackedRun } from './member-stack.ts';
import { differenceOf } from './model-graph.ts';
import { stackedTraining } from './stacked-training.ts';

/** A run of this process whose members are stacked. */
export interface StackableRun {
  config: RunConfig;
  project: Pick<Project, 'loss'>;
  task: Task;
  loss: LossFunction;
  members: readonly Member[];
  /** Training samples. */
  samples: number;
}

/** The stack of a run's members, and what they have in common there; null where no other run is in the stack. */
export interface StackOfRun {
  stack: MemberStack;
  run: StackedRun | null;
}

/**
 * Puts the members of several runs into stacks: those runs together that make the same steps with the same
 * architecture. They may differ in their learning rates, in all options of their optimizers that change no slots, in
 * seeds, and in what their own loss does.
 */
export function commonStacks(runs: readonly StackableRun[]): StackOfRun[] {
  const groups: StackableRun[][] = [];
  for (const run of runs) {
    const group = groups.find(([first]) => isAlike(first, run));
    if (group === undefined) groups.push([run]);
    else group.push(run);
  }
  const found = new Map(groups.flatMap((group) => group.map((run) => [run, group] as const)));
  const stacks = new Map(groups.map((group) => [group, stackOf(group)]));
  return runs.map((run) => {
    const group = found.get(run) ?? [run];
    const stack = stacks.get(group) ?? stackOf(group);
    return { stack, run: group.length === 1 ? null : { rule: updateRuleOf(run.config.optimizer), loss: run.loss } };
  });
}

function stackOf(group: readonly StackableRun[]): MemberStack {
  const [first] = group;
  const training = stackedTraining(first, first.loss);
  // Each run draws its batches from a separate stream, and their data may differ.
  return new MemberStack({ ...training, sharesBatches: training.sharesBatches && group.length === 1 });
}

function isAlike(first: StackableRun, other: StackableRun): boolean {
  return (
    JSON.stringify(stepsOf(first)) === JSON.stringify(stepsOf(other)) &&
    differenceOf(first.members[0].model, other.members[0].model) === null
  );
}

/** What must agree for two runs to make their steps together, and to come to their evaluations at the same step. */
function stepsOf({ config, task, samples }: StackableRun): unknown {
  const { optimizer, loss, dropLast, data, ema, evaluateEveryEpochs, maxSteps } = config;
  const { kind, clipNorm, clipValue } = optimizer;
  const frozen = optimizer.groups.filter(({ rateFactor }) => rateFactor === 0).map(({ weights }) => weights);
  return [
    task.kind,
    [kind, updateRuleOf(optimizer).slots, clipNorm, clipValue, frozen],
    [samplesPerStep(config), dropLast, data, samples, maxSteps],
    [loss, ema.decay > 0, evaluateEveryEpochs],
  ];
}
