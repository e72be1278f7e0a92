import {
  type SetEvaluationResult,
  type SetEvaluationReply,
  type SetEvaluationTask,
  setEvaluationTaskSchema,
} from '../../core/protocol/run/checkpoint-tasks.ts';
import { messageOf } from '../../core/text/errors.ts';
import { startBackend } from '../backends/backend.ts';
import type { Dataset, Splits } from '../data/dataset.ts';
import { RunModels } from '../project/rebuild-model.ts';
import { explainError, stackOf } from '../project/explain-error.ts';
import { splitByMember } from '../training/evaluate-sets.ts';
import { predict } from '../member/predict.ts';
import { joinStacks } from '../member/predictions.ts';
import type { Split } from '../member/run-files.ts';
import { questionOfHub, replyToHub } from '../session/hub-link.ts';

/**
 * Entry of the process that evaluates a selection of a run's checkpoints as one ensemble. Started by
 * `src-main/rpc/runs/evaluations.ts`, which sends the task and receives the reply.
 */

async function evaluate(request: SetEvaluationTask): Promise<SetEvaluationResult> {
  const { config, members, split } = request;
  await startBackend(config.backend, { blas: request.blas, determinism: config.determinism });
  const models = new RunModels(request);
  const { task, data } = await models.project();
  const dataset = requireSplit(data, split);
  const stacks = [];
  // One after the other, in one model where the architecture is the same: memory may not hold all of them at once.
  for (const [position, { rank, name }] of members.entries()) {
    const model = await models.withWeights(rank, name);
    task.check(model, dataset);
    // The position identifies a member: a set may contain several checkpoints of one rank.
    stacks.push({ ...(await predict(model, task, dataset)), ranks: [position] });
  }
  const stack = joinStacks(stacks);
  return { split, ...splitByMember(task.metrics(stack, dataset), stack.ranks), warnings: models.warnings };
}

function requireSplit(data: Splits, split: Split): Dataset {
  const dataset = data[split];
  if (dataset !== undefined) return dataset;
  const others = (['validation', 'test'] as const).filter((other) => data[other] !== undefined);
  throw new Error(
    `The project's data has no ${split} split` +
      (others.length === 0 ? ', nor any other to evaluate on.' : `. Evaluate on ${others.join(' or ')}.`),
  );
}

const reply: (message: SetEvaluationReply) => void = replyToHub;

try {
  const message = await questionOfHub();
  const task = setEvaluationTaskSchema.parse(message);
  reply(await answer(task));
} catch (error) {
  reply({ type: 'failed', message: messageOf(error), stack: stackOf(error) });
}

async function answer(task: SetEvaluationTask): Promise<SetEvaluationReply> {
  try {
    return { type: 'evaluated', result: await evaluate(task) };
  } catch (error) {
    return { type: 'failed', message: explainError(error, task.projectFolder), stack: stackOf(error) };
  }
}
