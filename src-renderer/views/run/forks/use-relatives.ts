import { onScopeDispose } from 'vue';
import type { RunListChange, RunRow } from '../../../../core/protocol/pages/run-list.ts';
import { maximumRunRows } from '../../../../core/protocol/pages/run-list.ts';
import { useHubClient } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';

/** The runs that a run comes from and leads to. */
export interface Relatives {
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
