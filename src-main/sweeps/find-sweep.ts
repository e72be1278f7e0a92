import type { RunRow } from '../../core/protocol/pages/run-list.ts';
import type { Sweep } from '../../core/protocol/run/sweep/sweep.ts';
import type { Hub } from '../hub/hub.ts';
import type { RunIndex } from '../store/index/run-index.ts';

/** A run that belongs to a sweep. */
export type SweepRow = RunRow & { sweep: NonNullable<RunRow['sweep']> };

/**
 * The runs of a sweep that exist, in the order of their seeds. Of copies of a run, only the first counts.
 * @throws Error if there are none
 */
export function runsOfSweep({ index }: { index: RunIndex }, id: string): [SweepRow, ...SweepRow[]] {
  const rows = index.list({ sweeps: [id], sort: { by: 'created', isDescending: false } }).filter(isOfSweep);
  const byPlace = new Map(rows.toReversed().map((row) => [row.sweep.index, row]));
  const [first, ...others] = [...byPlace.values()].toSorted((a, b) => a.sweep.index - b.sweep.index);
  if (first === undefined) throw new Error(`No run belongs to a sweep ${id}. \`tutti runs\` lists the runs.`);
  return [first, ...others];
}

/** A run or a sweep that a user named. */
export type Subject = { kind: 'run'; row: RunRow } | { kind: 'sweep'; sweep: Sweep; rows: [SweepRow, ...SweepRow[]] };

/**
 * Finds what a user named: a sweep by its id, its name or the beginning of its id, else a run as {@link Hub.find} does.
 * @throws Error if there is none, or several
 */
export async function findSubject(hub: Hub, text: string): Promise<Subject> {
  const id = hub.index.findSweep(text);
  if (id === null) return { kind: 'run', row: await hub.find(text) };
  const rows = runsOfSweep(hub, id);
  const [{ sweep }] = rows;
  return { kind: 'sweep', sweep: { id, name: sweep.name, of: sweep.of, seed: sweep.seed }, rows };
}

function isOfSweep(row: RunRow): row is SweepRow {
  return row.sweep !== null;
}
