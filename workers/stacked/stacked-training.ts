import type { RunConfig } from '../../core/protocol/run/config.ts';
import { commonSamplers, samplerOf } from '../../core/protocol/run/strategies/strategy-rules.ts';
import type { Project } from '../project/define-project.ts';
import { tf, type Tensor } from '../tensorflow/tf.ts';
import { type LossInputs, lossInputsOf, partnersOf, targetTensor } from '../member/batch-tensors.ts';
import { taskLoss, type Weighing } from '../member/weighted-loss.ts';
import { type LossFunction, mixLosses } from '../member/member.ts';
import { isAugmented } from '../data/augment/augment.ts';
import { updateRuleOf } from '../optimizers/optimizers.ts';
import type { Task } from '../member/tasks.ts';
import type { StackedTraining } from './stacked-members.ts';
import { membersOf } from './stacked-variable.ts';

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
