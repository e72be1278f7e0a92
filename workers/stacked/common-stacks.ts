import type { RunConfig } from '../../core/protocol/run/config.ts';
import { commonSamplers, samplerOf, samplesPerStep } from '../../core/protocol/run/strategies/strategy-rules.ts';
import type { Project } from '../project/define-project.ts';
import { type LossFunction, type Member, mixLosses } from '../member/member.ts';
import type { Task } from '../member/tasks.ts';
import { updateRuleOf } from '../optimizers/optimizers.ts';
import { MemberStack, type StackedRun } from './member-stack.ts';
import { type LayersModel, type Tensor, tf } from '../tensorflow/tf.ts';
import { type LossInputs, lossInputsOf, partnersOf, targetTensor } from '../member/batch-tensors.ts';
import { taskLoss, type Weighing } from '../member/weighted-loss.ts';
import { isAugmented } from '../data/augment/augment.ts';
import type { StackedTraining } from './stacked-members.ts';
import { membersOf } from './stacked-variable.ts';
import { graphOf, type Layer } from '../tensorflow/model-graph.ts';

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

/**
 * How a run's stacked members learn.
 * @param memberLoss one member's loss; a project's loss is called for each member
 */
export function stackedTraining(
  { config, project, task }: { config: RunConfig; project: Pick<Project, 'loss'>; task: Task },
  memberLoss: LossFunction,
): StackedTraining {
  return {
    rule: updateRuleOf(config.optimizer),
    // Every rank augments its batches differently. Bagging and hold-outs need a sampler of each rank.
    sharesBatches: commonSamplers.includes(samplerOf(config)) && !isAugmented(config) && !config.data.bagging,
    losses(outputs, targets, members) {
      const lossesOf = lossesFor({ config, project, task }, memberLoss);
      const own = lossesOf(outputs, targets, members);
      if (members.some(({ batch }) => batch.mixed === undefined)) return own;
      const partners = members.map((member) => ({ ...member, batch: partnersOf(member.batch) ?? member.batch }));
      const others = lossesOf(outputs, tf.stack(partners.map(({ batch }) => targetTensor(batch))), partners);
      return mixLosses(own, others, tf.tensor1d(members.map(({ batch }) => batch.mixed?.share ?? 1)));
    },
  };
}

function lossesFor(
  { config, project, task }: { config: RunConfig; project: Pick<Project, 'loss'>; task: Task },
  memberLoss: LossFunction,
): StackedTraining['losses'] {
  return (outputs, targets, members) => {
    const parts = members.map(({ batch }) => lossInputsOf(batch));
    if (project.loss === undefined) {
      const names = (task.further ?? []).map(({ name }) => name);
      return taskLoss(task, outputs, targets, config.loss, stackedWeighing(parts, names));
    }
    const ownOutputs = outputs.map((output) => membersOf(output, members.length));
    const ownTargets = membersOf(targets, members.length);
    const losses = members.map(({ position, draw, loss }, m) => {
      const own = ownOutputs.map((ofMembers) => ofMembers[m]);
      return draw(() => (loss ?? memberLoss)(own, ownTargets[m], position, parts[m]));
    });
    return tf.stack(losses);
  };
}

/** The members' weights `[M, B]`, masks `[M, B, ...]`, and those of the further targets that are named. */
function stackedWeighing(parts: readonly LossInputs[], names: readonly string[]): Weighing {
  const stacked = (tensors: (Tensor | null)[]) => {
    const present = tensors.filter((tensor) => tensor !== null);
    return present.length === 0 ? null : tf.stack(present);
  };
  const targetsOf = (name: string): Tensor => tf.stack(parts.map(({ extraTargets }) => extraTargets[name]));
  return {
    weights: stacked(parts.map(({ weights }) => weights)),
    mask: stacked(parts.map(({ mask }) => mask)),
    extraTargets: Object.fromEntries(names.map((name) => [name, targetsOf(name)])),
  };
}

/**
 * @throws with the first layer that differs when the members' models cannot be computed as one: they have different
 * architectures
 */
export function requireStackable(models: readonly LayersModel[], ranks: readonly number[]): void {
  const [first, ...others] = models;
  others.forEach((other, i) => {
    const difference = differenceOf(first, other);
    if (difference === null) return;
    throw new Error(
      `The model of rank ${ranks[i + 1]} ${difference}, compared with rank ${ranks[0]}'s: stacked members must ` +
        'have the same layers. Build the same model for every rank, or use --members-per-device 1.',
    );
  });
}

/**
 * Where a model differs from another one that it is to be stacked with, as the end of a sentence; null if it does not.
 */
function differenceOf(first: LayersModel, other: LayersModel): string | null {
  const differs = first.layers.findIndex((layer, at) => shapeOf(layer) !== shapeOf(other.layers[at]));
  if (differs >= 0) return `differs in layer ${first.layers[differs].name}`;
  const sameGraph = JSON.stringify(graphOf(first)) === JSON.stringify(graphOf(other));
  return sameGraph && first.layers.length === other.layers.length ? null : 'connects its layers differently';
}

/** The properties of a layer that must agree: kind, options and weights, but not name and initializers. */
function shapeOf(layer: Layer | undefined): string {
  if (layer === undefined) return '';
  const options = JSON.stringify(layer.getConfig(), (key, value: unknown) =>
    key === 'name' || key === 'seed' || key.endsWith('Initializer') ? undefined : value,
  );
  return `${layer.getClassName()} ${options} ${layer.weights.map(({ shape }) => shape.join()).join(';')}`;
}
