import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readFully } from '../../../core/node/read-fully.ts';
import type { LogLine } from '../../../core/protocol/pages/run-views.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { runPaths } from '../../store/runs/run-folder.ts';
import type { HubParts } from '../../hub/run-feed.ts';

const chunkBytes = 2 ** 16;

/** The newest lines of the ranks' logs (of all ranks if none are named), merged by time. */
export async function readLogs(
  { hub }: HubParts,
  id: string,
  { ranks, limit }: { ranks: number[]; limit: number },
): Promise<LogLine[]> {
  const { folder } = await hub.find(id);
  const { logs } = runPaths(folder);
  const wanted = (await loggedRanks(logs)).filter((rank) => ranks.length === 0 || ranks.includes(rank));
  const lines = await Promise.all(
    wanted.map(async (rank) => {
      const path = join(logs, `rank-${rank}.log`);
      return (await lastLines(path, limit)).map((line) => parseLine(line, rank));
    }),
  );
  // Sorting is stable, so lines of one rank keep their order.
  const merged = lines.flat().sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  return merged.slice(-limit);
}

async function loggedRanks(logs: string): Promise<number[]> {
  const names = await readdir(logs).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, logs, 'read');
  });
  return names.flatMap((name) => /^rank-(\d+)\.log$/.exec(name)?.[1] ?? []).map(Number);
}

/** The last whole lines of a file, at most `limit`, read from its end. */
async function lastLines(path: string, limit: number): Promise<string[]> {
  const handle = await open(path);
  try {
    let start = (await handle.stat()).size;
    let text = Buffer.alloc(0);
    while (start > 0 && countLines(text) <= limit) {
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

/** `2026-01-02T03:04:05.678Z text`. */
function parseLine(line: string, rank: number): LogLine {
  const end = line.indexOf(' ');
  return { time: line.slice(0, end), rank, text: line.slice(end + 1) };
}
