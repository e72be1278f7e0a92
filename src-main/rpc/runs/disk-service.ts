import { randomUUID } from 'node:crypto';
import { readFreeBytes } from '../../../core/node/disk-room.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import type { HubApi } from '../../../core/protocol/pages/hub-methods.ts';
import type { Cleanable, Cleaned, DiskUse } from '../../../core/protocol/pages/runs/disk-use.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { cleanableOf, cleanablePaths } from '../../disk/cleanable.ts';
import { readQuota, writeQuota } from '../../disk/disk-quota.ts';
import { filesBytes, folderBytes } from '../../store/disk-space.ts';
import type { HubParts } from '../../hub/run-feed.ts';
import { tuttiHome } from '../../store/home.ts';
import { tryHubLock } from '../../store/runs/hub-lock.ts';
import { deleteRun } from './run-views.ts';
import type { Trash } from './trash.ts';

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
