import { parseTarget, type RemoteTarget } from '../../core/protocol/run/control/remote-target.ts';
import { isOpen, markInterrupted } from '../store/index/recovery.ts';
import type { RunIndex } from '../store/index/run-index.ts';

/** A run on another machine, and Tutti's home there; null: as the shell there has it. */
export type FoundTarget = RemoteTarget & { home: string | null };

/** Where a run is that this machine does not have, or has a copy of that nobody keeps; null for all others. */
export async function findTarget(index: RunIndex, run: string, home: string | null): Promise<FoundTarget | null> {
  const target = parseTarget(run);
  if (target !== null) return { ...target, home };
  if (home !== null) throw new Error('--home belongs to a run on another machine: tutti attach user@login:run');
  const { folder } = await index.find(run);
  const record = await markInterrupted(folder);
  const { id, remote } = record;
  if (remote === undefined || remote.link !== 'left' || !isOpen(record)) return null;
  return { from: remote.from, run: id, home: remote.home };
}
