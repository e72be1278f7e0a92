import { type CombineReply, type CombineTask, combineTaskSchema } from '../../core/protocol/run/checkpoint-tasks.ts';
import { messageOf } from '../../core/text/errors.ts';
import { startBackend } from '../backends/backend.ts';
import { combineParts } from '../parts/combine-parts.ts';
import { explainError, stackOf } from '../project/explain-error.ts';
import { questionOfHub, replyToHub } from '../session/hub-link.ts';

/**
 * Entry of the process that makes an ensemble from checkpoints of runs. Started by `src-main/parts/combine-runs.ts`,
 * which sends the task and receives the reply.
 */

const reply: (message: CombineReply) => void = replyToHub;

try {
  const message = await questionOfHub();
  reply(await answer(combineTaskSchema.parse(message)));
} catch (error) {
  reply({ type: 'failed', message: messageOf(error), stack: stackOf(error) });
}

async function answer(task: CombineTask): Promise<CombineReply> {
  const { config, projectFolder } = task.runs[0];
  try {
    await startBackend(config.backend, { blas: task.blas, determinism: config.determinism });
    return { type: 'combined', combined: await combineParts(task) };
  } catch (error) {
    return { type: 'failed', message: explainError(error, projectFolder), stack: stackOf(error) };
  }
}
