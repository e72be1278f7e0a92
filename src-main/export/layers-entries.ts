import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LayersReply, LayersTask } from '../../protocol/layers-task.ts';
import type { CheckpointKey } from '../../protocol/rpc.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { askProcess } from '../runs/ask-process.ts';
import { writeLayersEntry } from '../runs/node-process.ts';
import { readCheckpointRecords } from '../store/checkpoint-records.ts';
import { dataFolders } from '../store/home.ts';
import type { ExportEntry } from './sinks.ts';

/** Reading the data, which tells the model its shapes; a download may be under way. */
const timeoutMs = 1_800_000;

/**
 * Checkpoints as TensorFlow.js layers models, `tfjs/rank-<r>/<name>/model.json` with its `weights.bin`. A process rebuilds the
 * project's model and writes them into a temporary folder, which goes once they have been taken.
 * @param checkpoints null for all
 * @throws when the project is gone, does not fit, or a checkpoint is missing or damaged
 */
export async function* layersEntries(
  folder: string,
  record: RunRecord,
  checkpoints: readonly CheckpointKey[] | null,
): AsyncGenerator<ExportEntry> {
  const members = checkpoints ?? (await readCheckpointRecords(folder)).map(({ rank, name }) => ({ rank, name }));
  if (members.length === 0) return;
  const aside = await mkdtemp(join(tmpdir(), 'tutti-layers-'));
  try {
    await writeLayers(folder, record, members, aside);
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
  { config, project }: RunRecord,
  members: readonly CheckpointKey[],
  into: string,
): Promise<void> {
  const task: LayersTask = {
    runFolder,
    projectFolder: project.folder,
    dataFolders: dataFolders(),
    config,
    members: [...members],
    into,
  };
  const reply = await askProcess<LayersReply>({
    entry: writeLayersEntry,
    args: [],
    message: task,
    timeoutMs,
    subject: `The process that writes ${members.length} layers models ended without an answer`,
  });
  if (reply.type === 'failed') throw new Error(reply.message);
}
