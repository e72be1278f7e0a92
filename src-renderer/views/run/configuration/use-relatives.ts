import { onScopeDispose } from 'vue';
import type { RunListChange, RunRow } from '../../../../core/protocol/pages/run-list.ts';
import { maximumRunRows } from '../../../../core/protocol/pages/run-list.ts';
import { useHubClient } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import type { ForkPoint } from '../../../../core/protocol/history/history.ts';

/** The runs that a run comes from and leads to. */
interface Relatives {
  /** The run that it is a fork of; null if it is none, or that run is not in the list. */
  origin: RunRow | null;
  forks: RunRow[];
  /** Number of all forks. `forks` holds the newest of them. */
  forkCount: number;
}

/** The relatives of a run, read again when one of them changes. @param origin the id of the run that it is a fork of */
export function useRelatives(id: string, origin: string | null): Loaded<Relatives> {
  const client = useHubClient();
  const relatives = useLoaded(async (): Promise<Relatives> => {
    const [forks, found] = await Promise.all([
      client.hub.runs({ origin: id, limit: maximumRunRows }),
      origin === null ? null : client.hub.runs({ ids: [origin], limit: 1 }),
    ]);
    return { origin: found?.rows.at(0) ?? null, forks: forks.rows, forkCount: forks.total };
  });

  function isConcerned({ changed, removed, isPartial }: RunListChange): boolean {
    const known = new Set([origin, ...(relatives.data.value?.forks ?? []).map((fork) => fork.id)]);
    return (
      isPartial ||
      changed.some((row) => row.origin === id || row.id === origin) ||
      removed.some((one) => known.has(one))
    );
  }
  onScopeDispose(client.on('runsChanged', (change) => isConcerned(change) && void relatives.reload()));
  return relatives;
}

/** A position of a run in the units that pages show: epochs count from 1. */
export function positionText({ epoch, step }: Pick<ForkPoint, 'epoch' | 'step'>): string {
  return `after epoch ${epoch + 1} (step ${step})`;
}

/** Where a fork of a point begins, and what it takes over. */
export function beginningOf(point: ForkPoint): string {
  if (point.kind === 'state') {
    return `It continues exactly from the state ${point.name}, ${positionText(point)}.`;
  }
  return (
    `It takes the weights of ${point.name}, ${positionText(point)}, and continues with epoch ${point.epoch + 2}. ` +
    'Optimizer, callbacks and strategy start anew.'
  );
}

/** A place where a fork can begin, under all names that its files have. */
export interface ForkPlace extends Omit<ForkPoint, 'name'> {
  /** The first one stands for all. */
  names: string[];
}

/** The points as a list, the newest first; at the same step the state before the weights alone. */
export function forkPlaces(points: readonly ForkPoint[]): ForkPlace[] {
  const same = Map.groupBy(points, ({ attempt, step, kind }) => `${attempt} ${step} ${kind}`);
  return [...same.values()]
    .map(([first, ...others]) => ({ ...first, names: [first, ...others].map(({ name }) => name) }))
    .sort(
      (a, b) => b.attempt - a.attempt || b.step - a.step || Number(b.kind === 'state') - Number(a.kind === 'state'),
    );
}
