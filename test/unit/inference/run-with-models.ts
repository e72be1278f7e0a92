import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { saveCheckpoint } from '../../../workers/checkpoints/checkpoint-store.ts';
import { keepTopology } from '../../../workers/checkpoints/layers-model.ts';
import { readWeights } from '../../../workers/member/weights.ts';
import type { LayersModel } from '../../../workers/tensorflow/tf.ts';
import { topologyOf } from '../../../workers/tensorflow/topology.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runRecord } from '../store/records.ts';

/** A finished run in a temporary folder, with a checkpoint of each model. */
export async function runWithModels(
  models: readonly LayersModel[],
  {
    set = 'ensemble-best',
    preprocessing,
    ...record
  }: Partial<RunRecord> & { set?: string; preprocessing?: Preprocessing },
): Promise<string> {
  const folder = join(await temporaryFolder(), 'run');
  const unknown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
  const device = { id: 'cpu:0', kind: 'cpu' as const, index: 0, name: 'a processor', ...unknown };
  const plan = models.map((_, rank) => ({ rank, wave: 0, device }));
  await createRunFolder(
    folder,
    runRecord({ status: 'finished', endedAt: '2026-01-02T03:06:05.000Z', plan, ...record }),
  );
  for (const [rank, model] of models.entries()) {
    const sha256 = await keepTopology(folder, rank, topologyOf(model));
    const about = { rank, name: set, epoch: 3, step: 40, monitor: null, score: null, model: sha256 };
    await saveCheckpoint(folder, { ...about, tensors: await readWeights(model) });
  }
  if (preprocessing) await writeFile(join(folder, 'preprocessing.json'), JSON.stringify(preprocessing));
  return folder;
}
