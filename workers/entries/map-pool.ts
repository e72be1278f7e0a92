import { join } from 'node:path';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import { type MapTask, mapTaskSchema, poolFiles, type PoolReply } from '../../core/protocol/run/pool-task.ts';
import { encodeSafetensors } from '../../core/safetensors/safetensors.ts';
import { messageOf } from '../../core/text/errors.ts';
import { requirePool } from '../data/labels.ts';
import { mapPool } from '../data/pool-map.ts';
import { loadDataset } from '../data/streams/source-dataset.ts';
import { loadProject, loadProjectData, parseHyperparameters } from '../project/load-project.ts';
import { explainError, stackOf } from '../project/explain-error.ts';
import { questionOfHub, replyToHub } from '../session/hub-link.ts';

/**
 * Entry of the process that maps the candidates of a search's pool. Started by `src-main/discovery/`, which sends the
 * task and receives the reply.
 */

async function map({ projectFolder, config, dataFolders, output, seed }: MapTask): Promise<void> {
  const project = await loadProject(projectFolder);
  const hyperparameters = parseHyperparameters(project, config.hyperparameters);
  const { train } = await loadProjectData(project, hyperparameters, { config, dataFolders });
  requirePool(train);
  const { pca, umap, explained } = mapPool(train.source === undefined ? train : await loadDataset(train), seed);
  const shape = [train.length, 2];
  const tensors = [
    { name: 'pca', dtype: 'F32' as const, shape, data: pca },
    { name: 'umap', dtype: 'F32' as const, shape, data: umap },
  ];
  const bytes = encodeSafetensors(tensors, { explained: JSON.stringify(explained) });
  await writeFileAsOnlyWriter(join(output, poolFiles.map), bytes);
}

const reply: (message: PoolReply) => void = replyToHub;

try {
  const message = await questionOfHub();
  const task = mapTaskSchema.parse(message);
  reply(
    await map(task).then(
      (): PoolReply => ({ type: 'read' }),
      (error: unknown) => ({ type: 'failed', message: explainError(error, task.projectFolder), stack: stackOf(error) }),
    ),
  );
} catch (error) {
  reply({ type: 'failed', message: messageOf(error), stack: stackOf(error) });
}
