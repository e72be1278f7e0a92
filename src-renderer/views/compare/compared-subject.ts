import type { HubApi } from '../../../core/protocol/pages/hub-methods.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import type { RunView } from '../../../core/protocol/pages/run-views.ts';
import { messageOf } from '../../../core/text/errors.ts';
import type { Sweep } from '../../../core/protocol/run/sweep/sweep.ts';

/** What is compared: a run, or the runs of a sweep. */
export interface ComparedSubject {
  /** Of the run or the sweep. */
  id: string;
  name: string;
  /** Null for a single run. */
  sweep: Sweep | null;
  /** Of a sweep: those that exist, in the order of their seeds. */
  runs: readonly [RunView, ...RunView[]];
}

/** What is compared, and what could not be read, with the reason. */
export interface Compared {
  subjects: ComparedSubject[];
  missing: { id: string; reason: string }[];
}

/** Reads the runs and sweeps with these ids, each for itself, because one that was deleted must not hide the others. */
export async function readSubjects(hub: Pick<HubApi, 'runs' | 'run'>, ids: readonly string[]): Promise<Compared> {
  if (ids.length === 0) return { subjects: [], missing: [] };
  const { rows } = await hub.runs({ sweeps: [...ids], sort: { by: 'created', isDescending: true } });
  const bySweep = Map.groupBy(rows, ({ sweep }) => sweep?.id ?? '');
  const read = await Promise.allSettled(
    ids.map(async (id) => {
      const own = bySweep.get(id);
      return own === undefined ? runSubject(await hub.run(id)) : sweepSubject(hub, own);
    }),
  );
  return {
    subjects: read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    missing: read.flatMap((one, place) =>
      one.status === 'rejected' ? [{ id: ids[place], reason: messageOf(one.reason) }] : [],
    ),
  };
}

/** A subject of one run. */
export function runSubject(run: RunView): ComparedSubject {
  return { id: run.row.id, name: run.row.name, sweep: null, runs: [run] };
}

/** @param rows the runs of a sweep, at least one, the newest first: of copies of a run the oldest counts */
async function sweepSubject(hub: Pick<HubApi, 'run'>, rows: readonly RunRow[]): Promise<ComparedSubject> {
  const byPlace = new Map(rows.map((row) => [row.sweep?.index ?? 0, row]));
  const ordered = [...byPlace].toSorted(([left], [right]) => left - right).map(([, row]) => row);
  const [first, ...others] = await Promise.all(ordered.map(({ id }) => hub.run(id)));
  const [{ sweep }] = ordered;
  if (sweep === null) throw new Error(`The run ${ordered[0].id} belongs to no sweep.`);
  const { id, name, of, seed } = sweep;
  return { id, name, sweep: { id, name, of, seed }, runs: [first, ...others] };
}

/** The name, with the end of the id where another one has the same name. */
export function labelOf({ id, name }: ComparedSubject, all: readonly ComparedSubject[]): string {
  const isShared = all.some((other) => other.id !== id && other.name === name);
  return isShared ? `${name} (${id.slice(-4)})` : name;
}

/** Whether one of its runs trains. */
export function trains({ runs }: ComparedSubject): boolean {
  return runs.some(({ row }) => row.status === 'running');
}
