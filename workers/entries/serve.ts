import { once } from 'node:events';
import { ensembleSourceSchema, type EnsembleSource } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { ServeReply, ServeRequest } from '../../core/ensemble/serving.ts';
import { messageOf } from '../../core/text/errors.ts';
import { TensorEnsemble } from '../inference/served.ts';
import { openSource } from '../project/open-source.ts';
import { explainError, stackOf } from '../project/trace/explain-error.ts';

/**
 * Entry of the process that predicts for `tutti serve`. Started by `src-main/serving/model-process.ts`, which sends the task and then one
 * batch of samples after the other, and receives what the ensemble is and its predictions.
 */

async function open(task: EnsembleSource): Promise<TensorEnsemble | null> {
  try {
    const { ensemble, models } = await openSource(task);
    const served = new TensorEnsemble(ensemble);
    tell({ type: 'ready', ensemble: await served.describe(models?.warnings ?? []) });
    return served;
  } catch (error) {
    const message = task.source === null ? messageOf(error) : explainError(error, task.source.projectFolder);
    tell({ type: 'failed', message, stack: stackOf(error) });
    return null;
  }
}

async function answer(served: TensorEnsemble, { tensors, outputs }: ServeRequest): Promise<ServeReply> {
  try {
    return { type: 'predicted', outputs: await served.predict(tensors, outputs) };
  } catch (error) {
    return { type: 'failed', message: messageOf(error), stack: stackOf(error) };
  }
}

function tell(message: ServeReply): void {
  if (process.send === undefined)
    throw new Error('This process is started by a server, with a channel to reply through.');
  process.send(message);
}

process.once('disconnect', () => process.exit());
const [task] = await once(process, 'message');
const served = await open(ensembleSourceSchema.parse(task));
if (served !== null) {
  process.on('message', (request: ServeRequest) => void answer(served, request).then(tell));
}
