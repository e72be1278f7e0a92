import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointCell } from '../../protocol/rpc.ts';
import { type CheckpointRecord, checkpointRecordSchema } from '../../protocol/run-record.ts';
import { errorCode, explainFileError } from '../store/file-error.ts';
import { runPaths } from '../store/run-folder.ts';
import { readRunNotes } from '../store/run-notes.ts';
import type { HubParts } from './parts.ts';

/** All checkpoints of a run, by rank and epoch. Of the same weights kept under several names, each is a best one. */
export async function listCheckpoints({ hub }: HubParts, id: string): Promise<CheckpointCell[]> {
  const { folder } = await hub.find(id);
  const records = await readRecords(runPaths(folder).checkpoints);
  const { pinnedCheckpoints } = await readRunNotes(folder);
  const stepsOf = (name: string) =>
    new Map(records.filter((record) => record.name === name).map(({ rank, step }) => [rank, step]));
  const [ensembleBest, memberBest] = [stepsOf('ensemble-best'), stepsOf('member-best')];
  return records.map((record) => ({
    record,
    isPinned: pinnedCheckpoints.some(({ rank, name }) => rank === record.rank && name === record.name),
    isEnsembleBest: ensembleBest.get(record.rank) === record.step,
    isMemberBest: memberBest.get(record.rank) === record.step,
  }));
}

async function readRecords(checkpoints: string): Promise<CheckpointRecord[]> {
  const names = await readdir(checkpoints, { recursive: true }).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, checkpoints, 'read');
  });
  const records = names
    .filter((name) => name.endsWith('.json'))
    .map(async (name) => checkpointRecordSchema.parse(JSON.parse(await readFile(join(checkpoints, name), 'utf8'))));
  return (await Promise.all(records)).sort((a, b) => a.rank - b.rank || a.epoch - b.epoch || a.step - b.step);
}
