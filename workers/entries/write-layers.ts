import { asError } from '../../core/text/errors.ts';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type LayersReply, type LayersTask, layersTaskSchema } from '../../core/protocol/run/checkpoint-tasks.ts';
import { startBackend } from '../backends/backend.ts';
import { writeLayersModel } from '../checkpoints/layers-model.ts';
import { RunModels } from '../project/rebuild-model.ts';
import { refuseOtherLayers } from '../session/preparation/refuse-other-layers.ts';
import { questionOfHub, replyToHub } from '../session/hub-link.ts';

/**
 * Entry of the process that exports checkpoints of a run as layers models of TensorFlow.js. Started by
 * `src-main/export/run-entries.ts`, which sends the task and receives the reply.
 */

async function writeAll(task: LayersTask): Promise<string[]> {
  // The export computes nothing, so any backend will do, whatever the run was trained on.
  await startBackend('cpu');
  const models = new RunModels(task);
  for (const { rank, name } of task.members) {
    const model = await models.withWeights(rank, name);
    refuseOtherLayers(model, rank);
    const folder = join(task.into, `rank-${rank}`, name);
    await mkdir(folder, { recursive: true });
    await writeLayersModel(model, folder);
  }
  return models.warnings;
}

const reply: (message: LayersReply) => void = replyToHub;

try {
  const message = await questionOfHub();
  reply({ type: 'written', warnings: await writeAll(layersTaskSchema.parse(message)) });
} catch (error) {
  const { message, stack = '' } = asError(error);
  reply({ type: 'failed', message, stack });
}
