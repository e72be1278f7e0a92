import type { RunEvent } from '../run/record.ts';

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
