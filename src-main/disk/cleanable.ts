import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRow } from '../../core/protocol/pages/run-list.ts';
import type { Cleanable } from '../../core/protocol/pages/runs/disk-use.ts';
import { checkpointFiles, readCheckpointRecords } from '../store/runs/checkpoint-records.ts';
import { isHubAlive } from '../store/runs/hub-lock.ts';
import { readRunRecord } from '../store/runs/run-folder.ts';
import { isSame, readRunNotes } from '../store/runs/run-notes.ts';
import { filesBytes, folderBytes } from '../store/disk-space.ts';

/** Checkpoints that stand for the run's results. */
const resultNames = ['ensemble-best', 'member-best', 'final'];

/** The files of a run that each kind of cleaning removes; empty for a run that trains. */
export async function cleanablePaths(row: RunRow): Promise<Record<Cleanable['kind'], string[]>> {
  const nothing = { state: [], checkpoints: [], predictions: [], archived: [] };
  const { folder } = row;
  if (isHubAlive(folder)) return nothing;
  const record = await readRunRecord(folder);
  if (record.status === 'running' || record.status === 'created') return nothing;
  const present = (name: string): string[] => (existsSync(join(folder, name)) ? [join(folder, name)] : []);
  // A missing member is completed from the states of the others.
  const isComplete = record.status === 'finished' && (record.lostMembers ?? []).length === 0;
  return {
    state: isComplete ? present('state') : [],
    checkpoints: isComplete ? await intermediateFiles(folder) : [],
    predictions: record.status === 'finished' ? present('predictions') : [],
    archived: row.isArchived ? [folder] : [],
  };
}

/** The files of checkpoints that are neither pinned nor best, and not the last ones. */
async function intermediateFiles(folder: string): Promise<string[]> {
  const damaged: unknown[] = [];
  const records = await readCheckpointRecords(folder, (error) => damaged.push(error));
  // What a damaged record describes may be the best one.
  if (damaged.length > 0) return [];
  const { pinnedCheckpoints } = await readRunNotes(folder);
  const results = records.filter(({ name }) => resultNames.includes(name));
  // If none is the best, the user may keep any of them.
  if (results.length === 0) return [];
  return records
    .filter(
      (record) =>
        !resultNames.includes(record.name) &&
        !pinnedCheckpoints.some((pinned) => isSame(pinned, record)) &&
        !results.some(({ rank, step }) => rank === record.rank && step === record.step),
    )
    .flatMap((record) => checkpointFiles(folder, record))
    .filter((path) => existsSync(path));
}

/** What of a run may go, with its size. Of an archived run only the whole. */
export async function cleanableOf(row: RunRow): Promise<Cleanable[]> {
  const { archived, ...parts } = await cleanablePaths(row);
  const { id: run, name, project } = row;
  if (archived.length > 0) return [{ run, name, project, kind: 'archived', bytes: await folderBytes(row.folder) }];
  const found: Cleanable[] = [];
  for (const kind of ['state', 'checkpoints', 'predictions'] as const) {
    const paths = parts[kind];
    const bytes =
      kind === 'checkpoints' ? await filesBytes(paths) : paths.length === 0 ? 0 : await folderBytes(row.folder, kind);
    if (bytes > 0) found.push({ run, name, project, kind, bytes });
  }
  return found;
}
