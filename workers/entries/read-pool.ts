import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { packBits } from '../../core/discovery/distances.ts';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import {
  type Pool,
  poolFiles,
  type PoolReply,
  type PoolTask,
  poolTaskSchema,
} from '../../core/protocol/run/pool-task.ts';
import { encodeSafetensors, type NamedTensor } from '../../core/safetensors/safetensors.ts';
import { messageOf } from '../../core/text/errors.ts';
import { type Dataset, gatherBatch, type Splits } from '../data/dataset.ts';
import { requirePool } from '../data/labels.ts';
import { loadDataset } from '../data/streams/source-dataset.ts';
import { loadProject, loadProjectData, parseHyperparameters } from '../project/load-project.ts';
import { explainError, stackOf } from '../project/explain-error.ts';
import { questionOfHub, replyToHub } from '../session/hub-link.ts';

/**
 * Entry of the process that reads a project's pool for a search. Started by `src-main/discovery/`, which sends the task
 * and receives the reply.
 */

async function readPool(task: PoolTask): Promise<void> {
  const { projectFolder, config, dataFolders, output, withFeatures } = task;
  const project = await loadProject(projectFolder);
  const hyperparameters = parseHyperparameters(project, config.hyperparameters);
  const splits = await loadProjectData(project, hyperparameters, { config, dataFolders });
  requirePool(splits.train);
  const bytes = encodeSafetensors(await tensorsOf(splits.train, withFeatures));
  await writeFileAsOnlyWriter(join(output, poolFiles.targets), bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  // Comes last: with it the pool is complete.
  await writeFileAsOnlyWriter(join(output, poolFiles.description), `${JSON.stringify(describe(splits, sha256))}\n`);
}

function describe({ train, pool }: Splits, sha256: string): Pool {
  const { name, length, featureShape, classCount, classNames } = train;
  for (const [column, texts] of Object.entries(pool?.texts ?? {})) {
    if (texts.length === length) continue;
    throw new Error(
      `The column "${column}" of the pool has ${texts.length} texts for ${length} samples. Give each sample one.`,
    );
  }
  return {
    format: 1,
    name,
    samples: length,
    featureShape: [...featureShape],
    classCount: classCount ?? (train.targets instanceof Int32Array ? 2 : null),
    classNames: classNames === undefined ? null : [...classNames],
    texts: Object.fromEntries(Object.entries(pool?.texts ?? {}).map(([column, texts]) => [column, [...texts]])),
    excluded: [...(pool?.excluded ?? [])],
    sha256,
  };
}

async function tensorsOf(pool: Dataset, withFeatures: boolean): Promise<NamedTensor[]> {
  const shape = [pool.length];
  const targets: NamedTensor =
    pool.targets instanceof Int32Array
      ? { name: 'targets', dtype: 'I32', shape, data: new Int32Array(pool.targets) }
      : { name: 'targets', dtype: 'F32', shape, data: new Float32Array(pool.targets) };
  if (!withFeatures) return [targets];
  const { features: stored, normalization, source } = pool;
  const packed =
    source === undefined && normalization === undefined && stored instanceof Uint8Array
      ? packBits(stored, stored.length / pool.length)
      : null;
  if (packed !== null) {
    const words = new Int32Array(packed.buffer);
    return [targets, { name: 'bits', dtype: 'I32', shape: [pool.length, words.length / pool.length], data: words }];
  }
  const dataset = pool.source === undefined ? pool : await loadDataset(pool);
  const { features } = gatherBatch(
    dataset,
    Int32Array.from({ length: pool.length }, (_, i) => i),
  );
  const width = features.length / pool.length;
  return [targets, { name: 'features', dtype: 'F32', shape: [pool.length, width], data: new Float32Array(features) }];
}

const reply: (message: PoolReply) => void = replyToHub;

try {
  const message = await questionOfHub();
  const task = poolTaskSchema.parse(message);
  reply(
    await readPool(task).then(
      (): PoolReply => ({ type: 'read' }),
      (error: unknown) => ({ type: 'failed', message: explainError(error, task.projectFolder), stack: stackOf(error) }),
    ),
  );
} catch (error) {
  reply({ type: 'failed', message: messageOf(error), stack: stackOf(error) });
}
