import { type FileHandle, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { readFully } from '../../../core/node/read-lines.ts';
import type { LogLine } from '../../../core/protocol/pages/run-views.ts';
import { ForeignEntryError, openOwnFile } from '../../../core/node/own-files.ts';
import { listOwnFolder } from '../../../core/node/own-folders.ts';
import type { HubParts } from '../../hub/run-feed.ts';

const chunkBytes = 2 ** 16;
/** The most that is read of a log: its lines may be endless. */
const maximumBytes = 2 ** 22;

/** The newest lines of the ranks' logs (of all ranks if none are named), merged by time. */
export async function readLogs(
  { hub }: HubParts,
  id: string,
  { ranks, limit }: { ranks: number[]; limit: number },
): Promise<LogLine[]> {
  const { folder } = await hub.find(id);
  const wanted = (await loggedRanks(folder)).filter((rank) => ranks.length === 0 || ranks.includes(rank));
  const lines = await Promise.all(wanted.map((rank) => readLog(folder, rank, limit)));
  // Sorting is stable, so lines of one rank keep their order.
  const merged = lines.flat().sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  return merged.slice(-limit);
}

async function loggedRanks(folder: string): Promise<number[]> {
  const entries = await listOwnFolder(folder, 'logs');
  return entries.flatMap(({ name }) => /^rank-(\d+)\.log$/.exec(name)?.[1] ?? []).map(Number);
}

/** The last lines of a rank's log. A log that is no file of the run's folder has one line, which says so. */
export async function readLog(folder: string, rank: number, limit: number): Promise<LogLine[]> {
  const path = join('logs', `rank-${rank}.log`);
  const changed = (await lstat(join(folder, path))).mtime.toISOString();
  try {
    const handle = await openOwnFile(folder, path);
    return parseLines(await lastLines(handle, limit), rank, changed);
  } catch (error) {
    if (!(error instanceof ForeignEntryError)) throw error;
    return [{ time: changed, rank, text: error.message }];
  }
}

/** The last whole lines of a file, at most `limit`, read from its end. Closes the file. */
async function lastLines(handle: FileHandle, limit: number): Promise<string[]> {
  try {
    let start = (await handle.stat()).size;
    let text = Buffer.alloc(0);
    while (start > 0 && text.length < maximumBytes && countLines(text) <= limit) {
      const size = Math.min(chunkBytes, start);
      start -= size;
      const chunk = Buffer.alloc(size);
      const length = await readFully(handle, chunk, start);
      text = Buffer.concat([chunk.subarray(0, length), text]);
    }
    // Drops a partial first line, and a last line that is still being written.
    const lines = text.toString().split('\n').slice(0, -1);
    return lines.slice(start > 0 ? Math.max(1, lines.length - limit) : -limit);
  } finally {
    await handle.close();
  }
}

function countLines(text: Buffer): number {
  let count = 0;
  for (const byte of text) if (byte === 0x0a) count += 1;
  return count;
}

/**
 * Lines `2026-01-02T03:04:05.678Z text`. A line without a time has that of the line before, the first one that of the
 * file.
 */
function parseLines(lines: readonly string[], rank: number, changed: string): LogLine[] {
  let time = changed;
  return lines.map((line) => {
    const end = line.indexOf(' ');
    const isTimed = isTime(line.slice(0, end));
    if (isTimed) time = line.slice(0, end);
    return { time, rank, text: isTimed ? line.slice(end + 1) : line };
  });
}

/** Whether pages can show it as a time. */
function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text));
}
