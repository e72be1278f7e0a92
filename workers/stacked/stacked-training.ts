import type { RunConfig } from '../../core/protocol/run/config.ts';
import { commonSamplers, samplerOf } from '../../core/protocol/run/strategy-rules.ts';
import type { Project } from '../project/define-project.ts';
import { tf } from '../tensorflow/tf.ts';
import type { LossFunction } from '../member/member.ts';
import { updateRuleOf } from '../optimizers/optimizers.ts';
import type { Task } from '../member/tasks.ts';
import type { StackedTraining } from './stacked-members.ts';
import { membersOf } from './stacked-variable.ts';

/** How a run's stacked members learn. @param memberLoss one member's loss; a project's loss is called for each member */
export function stackedTraining(
  { config, project, task }: { config: RunConfig; project: Pick<Project, 'loss'>; task: Task },
  memberLoss: LossFunction,
): StackedTraining {
  return {
    rule: updateRuleOf(config.optimizer),
    sharesBatches: commonSamplers.includes(samplerOf(config)),
    losses(outputs, targets, positions, draws) {
      if (project.loss === undefined) return task.loss(outputs, targets, config.loss);
      const members = positions.length;
      const ownOutputs = outputs.map((output) => membersOf(output, members));
      const ownTargets = membersOf(targets, members);
      const losses = positions.map((position, m) => {
        const own = ownOutputs.map((ofMembers) => ofMembers[m]);
        return draws[m](() => memberLoss(own, ownTargets[m], position));
      });
      return tf.stack(losses);
    },
  };
}
