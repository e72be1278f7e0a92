import { randomUUID } from 'node:crypto';
import { readFreeBytes } from '../../../core/node/disk-room.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import type { HubApi } from '../../../core/protocol/pages/hub-methods.ts';
import type { Cleanable, Cleaned, DiskUse } from '../../../core/protocol/pages/runs/disk-use.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { filesBytes, folderBytes } from '../../store/disk-space.ts';
import type { HubParts } from '../../hub/run-feed.ts';
import { homePaths, tuttiHome } from '../../store/home.ts';
import { isHubAlive, tryHubLock } from '../../store/runs/hub-lock.ts';
import { deleteRun } from './run-views.ts';
import type { Trash } from './trash.ts';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointFiles, readCheckpointRecords } from '../../store/runs/checkpoint-records.ts';
import { readRunRecord } from '../../store/runs/run-folder.ts';
import { isSame, readRunNotes } from '../../store/runs/run-notes.ts';

/** Checkpoints that stand for the run's results. */
const resultNames = ['ensemble-best', 'member-best', 'final'];

/** The files of a run that each kind of cleaning removes; empty for a run that trains. */
async function cleanablePaths(row: RunRow): Promise<Record<Cleanable['kind'], string[]>> {
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
async function cleanableOf(row: RunRow): Promise<Cleanable[]> {
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

const quotaSchema = z.strictObject({ format: z.literal(1), quotaBytes: z.number().positive().nullable() });

/** The bytes of all runs above which pages advise to clean up; null: no advice. @throws Error if its file is damaged */
async function readQuota(): Promise<number | null> {
  const { diskQuota } = homePaths();
  const text = await unlessMissing(readFile(diskQuota, 'utf8'));
  if (text === null) return null;
  try {
    return quotaSchema.parse(JSON.parse(text)).quotaBytes;
  } catch (error) {
    throw new Error(`${diskQuota} is damaged: ${String(error)}. Remove it, and set the quota again.`, { cause: error });
  }
}

async function writeQuota(quotaBytes: number | null): Promise<void> {
  await writeFileAtomic(homePaths().diskQuota, `${toJson({ format: 1, quotaBytes })}\n`);
}

/** How much the runs take on the disk, and what of them may go. */
export function diskMethods(parts: HubParts, trash: Trash) {
  const rows = (): RunRow[] => parts.hub.runs({});
  return {
    diskUse: () => measure(parts),
    measureNewRuns: () => measureNew(parts),
    setDiskQuota: (bytes) => writeQuota(bytes),
    cleanable: async () => {
      const found: Cleanable[] = [];
      for (const row of rows()) found.push(...(await cleanableOf(row)));
      return found.toSorted((a, b) => b.bytes - a.bytes);
    },
    clean: async (items) => {
      const cleaned: Cleaned = { deletions: [], bytes: 0, failed: [] };
      for (const item of items) {
        try {
          const { deletion, bytes } = await cleanOne(parts, trash, item);
          cleaned.deletions.push(deletion);
          cleaned.bytes += bytes;
        } catch (error) {
          cleaned.failed.push({ run: item.run, message: messageOf(error) });
        }
      }
      return cleaned;
    },
  } satisfies Partial<HubApi>;
}

async function measure({ hub }: HubParts): Promise<DiskUse> {
  const projects = new Map<string, { project: string; runs: number; bytes: number }>();
  for (const { folder, project } of hub.runs({})) {
    const bytes = await folderBytes(folder);
    hub.index.noteDisk(folder, bytes);
    const before = projects.get(project) ?? { project, runs: 0, bytes: 0 };
    projects.set(project, { project, runs: before.runs + 1, bytes: before.bytes + bytes });
  }
  const sorted = [...projects.values()].toSorted((a, b) => b.bytes - a.bytes);
  return {
    totalBytes: sorted.reduce((sum, { bytes }) => sum + bytes, 0),
    freeBytes: await readFreeBytes(tuttiHome()),
    quotaBytes: await readQuota(),
    projects: sorted,
  };
}

async function measureNew({ hub }: HubParts): Promise<Pick<DiskUse, 'totalBytes' | 'quotaBytes'>> {
  const { rows, values = [] } = hub.index.page({ fields: ['disk'] });
  let totalBytes = 0;
  for (const [index, { folder, endedAt }] of rows.entries()) {
    const known = values[index]?.[0];
    if (typeof known === 'number') totalBytes += known;
    else if (endedAt !== null) {
      const bytes = await folderBytes(folder);
      hub.index.noteDisk(folder, bytes);
      totalBytes += bytes;
    }
  }
  return { totalBytes, quotaBytes: await readQuota() };
}

/** Moves one thing to the trash, while no process can train the run. */
async function cleanOne(
  parts: HubParts,
  trash: Trash,
  { run, kind }: Pick<Cleanable, 'run' | 'kind'>,
): Promise<{ deletion: string; bytes: number }> {
  const row = await parts.hub.find(run);
  if (kind === 'archived') {
    if (!row.isArchived) throw new Error(`The run ${run} is not archived any more.`);
    const bytes = await folderBytes(row.folder);
    await deleteRun(parts, trash, row.id);
    return { deletion: row.id, bytes };
  }
  const { [kind]: paths } = await cleanablePaths(row);
  if (paths.length === 0) throw new Error(`Of the run ${run} nothing of this may go any more.`);
  const lock = tryHubLock(row.folder);
  if (lock === null) throw new Error(`The run ${run} has begun to train.`);
  try {
    const bytes = kind === 'checkpoints' ? await filesBytes(paths) : await folderBytes(row.folder, kind);
    const deletion = `cleaning-${randomUUID()}`;
    await trash.put(deletion, paths);
    return { deletion, bytes };
  } finally {
    lock.release();
  }
}
