import { z } from 'zod';
import type { RunEvent } from '../../run/record.ts';

/** What can be removed of runs that do not train, without its results: see docs/dashboard.md. */
const cleanableKinds = ['state', 'checkpoints', 'predictions', 'archived'] as const;
export const cleanableSchema = z.strictObject({ run: z.string().min(1), kind: z.enum(cleanableKinds) });

/** Something that cleaning may remove. */
export interface Cleanable extends z.output<typeof cleanableSchema> {
  name: string;
  project: string;
  bytes: number;
}

/** The size of all runs on the disk, in bytes. */
export interface DiskUse {
  totalBytes: number;
  freeBytes: number;
  /** Above which pages advise to clean up; null: no such advice. */
  quotaBytes: number | null;
  /** The largest first. */
  projects: { project: string; runs: number; bytes: number }[];
}

/** What a cleaning removed. `deletions` restore it for 10 s (`undoDelete`). */
export interface Cleaned {
  deletions: string[];
  bytes: number;
  /** Why some of it was left, by run. */
  failed: { run: string; message: string }[];
}

/** Writes that wait for space on the disk, by rank (null: the hub), each with a sentence for the user. */
export type DiskWaits = ReadonlyMap<number | null, string>;

const endings = new Set(['disk-room', 'save-skipped']);
const starts = new Set(['started', 'restarted']);

/** Whether an event begins or ends a wait for space. */
export function isDiskEvent({ kind }: Pick<RunEvent, 'kind'>): boolean {
  return kind === 'disk-full' || endings.has(kind);
}

/** The waits after an event. */
export function applyDiskEvent(
  waits: DiskWaits,
  { kind, rank, message }: Pick<RunEvent, 'kind' | 'rank' | 'message'>,
): DiskWaits {
  if (kind === 'disk-full') return new Map([...waits, [rank, message]]);
  if (starts.has(kind)) return new Map();
  if (!endings.has(kind) || !waits.has(rank)) return waits;
  return new Map([...waits].filter(([waiting]) => waiting !== rank));
}
