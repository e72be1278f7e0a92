import { type WorkersTask, workersTaskSchema } from '../../core/protocol/run/messages.ts';
import type { WorkersReply } from '../../core/protocol/run/workers.ts';
import { explainError } from '../project/explain-error.ts';
import { questionOfHub, replyToHub } from '../session/hub-link.ts';
import { measureWorkers } from '../session/measure-workers.ts';

/**
 * Entry of a short process that times steps of a run's members, together and one by one. Started by
 * `src-main/placement/choose-workers.ts`, which sends the task.
 */

async function answer(task: WorkersTask): Promise<WorkersReply> {
  try {
    return await measureWorkers(task);
  } catch (error) {
    return { type: 'failed', message: explainError(error, task.launch.projectFolder) };
  }
}

replyToHub(await answer(workersTaskSchema.parse(await questionOfHub())));
