import { asError } from '../../core/text/errors.ts';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type LayersReply, type LayersTask, layersTaskSchema } from '../../core/protocol/run/checkpoint-tasks.ts';
import { startBackend } from '../backends/backend.ts';
import { writeLayersModel } from '../checkpoints/layers-model.ts';
import { innerBatchOf } from '../member/tasks/inner-members.ts';
import { RunModels } from '../project/rebuild-model.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { topologyOf } from '../tensorflow/topology.ts';
import { questionOfHub, replyToHub } from '../session/hub-pipe.ts';

/**
 * Entry of the process that exports checkpoints of a run as layers models of TensorFlow.js. Started by
 * `src-main/export/layers-entries.ts`, which sends the task and receives the reply.
 */

async function writeAll(task: LayersTask): Promise<string[]> {
  // The export computes nothing, so any backend will do, whatever the run was trained on.
  await startBackend('cpu');
  const models = new RunModels(task);
  for (const { rank, name } of task.members) {
    const model = await models.withWeights(rank, name);
    refuseDrawnMasks(model, rank);
    refuseInnerMembers(model, rank);
    const folder = join(task.into, `rank-${rank}`, name);
    await mkdir(folder, { recursive: true });
    await writeLayersModel(model, folder);
  }
  return models.warnings;
}

/** Other programs know the layers of TensorFlow.js alone. */
function refuseDrawnMasks(model: LayersModel, rank: number): void {
  if (!topologyOf(model).includes('"SampledDropout"')) return;
  throw new Error(
    `The model of rank ${rank} has dropout masks that were drawn (--method mc-dropout), and the format tfjs has no layer for them. ` +
      'Export the format ensemble, onnx or pytorch.',
  );
}

function refuseInnerMembers(model: LayersModel, rank: number): void {
  if (innerBatchOf(model) === null) return;
  throw new Error(
    `The model of rank ${rank} has inner members, and the format tfjs has no layers for them. Make them into members ` +
      '(tutti ensemble <run> --method unroll), and export those.',
  );
}

const reply: (message: LayersReply) => void = replyToHub;

try {
  const message = await questionOfHub();
  reply({ type: 'written', warnings: await writeAll(layersTaskSchema.parse(message)) });
} catch (error) {
  const { message, stack = '' } = asError(error);
  reply({ type: 'failed', message, stack });
}
