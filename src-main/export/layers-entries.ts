import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LayersReply, LayersTask, CheckpointKey } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { writeLayersEntry } from '../processes/node-process.ts';
import { readCheckpointRecords } from '../store/runs/checkpoint-records.ts';
import { askToWrite, runSource } from './rebuild.ts';
import type { ExportEntry } from './sinks.ts';

/**
 * Checkpoints as TensorFlow.js layers models, `tfjs/rank-<r>/<name>/model.json` with its `weights.bin`. A process
 * rebuilds the model of each checkpoint and writes it to a temporary folder, which is removed after the export.
 * @param checkpoints null for all
 * @param warn called with possible differences from the time when the run trained
 * @throws Error if a checkpoint is missing or damaged, or needs a project that is gone or does not match
 */
export async function* layersEntries(
  folder: string,
  record: RunRecord,
  checkpoints: readonly CheckpointKey[] | null,
  warn: (message: string) => void,
): AsyncGenerator<ExportEntry> {
  const members =
    checkpoints ??
    (await readCheckpointRecords(folder, ({ message }) => warn(message))).map(({ rank, name }) => ({ rank, name }));
  if (members.length === 0) return;
  const aside = await mkdtemp(join(tmpdir(), 'tutti-layers-'));
  try {
    for (const message of await writeLayers(folder, record, members, aside)) warn(message);
    for (const { rank, name } of members) {
      for (const file of ['model.json', 'weights.bin']) {
        const path = `rank-${rank}/${name}/${file}`;
        const compress = file === 'model.json';
        yield { path: `tfjs/${path}`, compress, open: () => createReadStream(join(aside, path)) };
      }
    }
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function writeLayers(
  runFolder: string,
  record: RunRecord,
  members: readonly CheckpointKey[],
  into: string,
): Promise<string[]> {
  const task: LayersTask = { ...(await runSource(runFolder, record)), members: [...members], into };
  const subject = `${members.length} layers models could not be written`;
  return (await askToWrite<LayersReply>(writeLayersEntry, task, subject)).warnings;
}
