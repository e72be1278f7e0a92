import type { Launch } from '../../../core/protocol/run/messages.ts';
import type { Splits } from '../../data/dataset.ts';

let kept: { key: string; splits: Promise<Splits> } | null = null;

/**
 * The pool of a run that trains on some labels of it. A process that stays for the next round of a search reads it only once: `data()` draws its random
 * numbers from the run's seed, so that the same configuration gives the same pool.
 */
export function keptPool(
  { projectFolder, sourceFolder, dataFolders, config }: Launch,
  read: () => Promise<Splits>,
): Promise<Splits> {
  // A round of a warm search names another checkpoint, on which the pool does not depend.
  const key = JSON.stringify([projectFolder, sourceFolder, dataFolders, { ...config, warmStart: null }]);
  if (kept?.key !== key) kept = { key, splits: read() };
  return kept.splits;
}
