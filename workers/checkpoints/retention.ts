import { readOwnText } from '../../core/node/own-files.ts';
import { messageOf } from '../../core/text/errors.ts';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { unlessMissing } from '../../core/node/file-error.ts';
import { checkpointKeySchema } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { MetricMode } from '../../core/metrics/metric-mode.ts';
import type { CheckpointRecord } from '../../core/protocol/run/record.ts';

/** Which of a rank's checkpoints stay. */
export interface RetentionPolicy {
  /** The newest `epoch-<n>` to keep; 0: all. */
  keepLast: number;
  /** The best `top-<n>` to keep, by their scores. */
  keepTop: number;
  mode: MetricMode;
  /** Most bytes of the rank's checkpoints; null: no limit. */
  quotaBytes: number | null;
}

type Kept = Pick<CheckpointRecord, 'name' | 'epoch' | 'score' | 'bytes'>;

/**
 * The checkpoints to remove once `saved` is on the disk: of the numbered ones (`epoch-<n>`, `top-<n>`) those beyond the
 * counts, then, while all checkpoints together exceed the quota, the oldest `epoch-<n>` and after them the worst
 * `top-<n>`. Others, such as `ensemble-best` or those that a user requested or pinned, and `saved` itself, always stay.
 * @returns their names, in the order in which to remove them
 */
export function supersededCheckpoints(
  records: readonly Kept[],
  policy: RetentionPolicy,
  saved: string,
  pinned: ReadonlySet<string>,
): string[] {
  const mayGo = ({ name }: Kept): boolean => name !== saved && !pinned.has(name);
  const oldestFirst = records.filter(({ name }) => /^epoch-\d+$/.test(name)).sort((a, b) => a.epoch - b.epoch);
  const worstFirst = records.filter(({ name }) => /^top-\d+$/.test(name)).sort((a, b) => byScore(a, b, policy.mode));
  const beyondCounts = [
    ...(policy.keepLast > 0 ? allButLast(oldestFirst, policy.keepLast) : []),
    ...allButLast(worstFirst, policy.keepTop),
  ].filter(mayGo);
  const left = [...oldestFirst, ...worstFirst].filter((record) => mayGo(record) && !beyondCounts.includes(record));
  const removed = [...beyondCounts, ...beyondQuota(records, beyondCounts, left, policy.quotaBytes)];
  return removed.map(({ name }) => name);
}

/** None where there are no more than `count`. */
function allButLast(records: readonly Kept[], count: number): Kept[] {
  return records.slice(0, Math.max(0, records.length - count));
}

/** The first of `left` that must go so that the rest fits into the quota. */
function beyondQuota(
  records: readonly Kept[],
  gone: readonly Kept[],
  left: readonly Kept[],
  quotaBytes: number | null,
): Kept[] {
  if (quotaBytes === null) return [];
  let bytes = records.reduce((sum, record) => sum + (gone.includes(record) ? 0 : record.bytes), 0);
  const removed: Kept[] = [];
  for (const record of left) {
    if (bytes <= quotaBytes) break;
    removed.push(record);
    bytes -= record.bytes;
  }
  return removed;
}

/** The worst first; of equal scores the later one is worse. */
function byScore(a: Kept, b: Kept, mode: MetricMode): number {
  const worst = mode === 'min' ? Infinity : -Infinity;
  const [one, other] = [a.score ?? worst, b.score ?? worst];
  if (one === other) return b.epoch - a.epoch;
  return (mode === 'min') === one > other ? -1 : 1;
}

/** The part of `notes.json` that says what must stay. */
const pinsSchema = z.looseObject({ pinnedCheckpoints: z.array(checkpointKeySchema).default([]) });

/**
 * The names of a rank's checkpoints that the user pinned.
 * @throws Error if `notes.json` cannot be read, because nothing may be removed then
 */
export async function readPins(runFolder: string, rank: number): Promise<ReadonlySet<string>> {
  const path = join(runFolder, 'notes.json');
  const pinnedCheckpoints = await parsePins(path).catch((error: unknown) => {
    throw new Error(
      `${path} cannot be read, so that no checkpoint is removed: ${messageOf(error)}. Correct or remove it.`,
      {
        cause: error,
      },
    );
  });
  return new Set(pinnedCheckpoints.flatMap((pin) => (pin.rank === rank ? [pin.name] : [])));
}

async function parsePins(path: string) {
  const text = await unlessMissing(readOwnText(dirname(path), basename(path)));
  return pinsSchema.parse(JSON.parse(text ?? '{}')).pinnedCheckpoints;
}
