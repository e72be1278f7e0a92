import { watch } from 'vue';
import type { ComparisonList, SavedComparison } from '../../../core/protocol/pages/saved-comparison.ts';
import { useHub } from '../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../composables/use-loaded.ts';
import { useSessionStore } from '../../stores/session.ts';
import { useToastsStore } from '../../stores/toasts.ts';

/** The saved comparisons and what can be done with them. A link for watchers has none. */
export function useSavedComparisons(): Loaded<ComparisonList> & {
  /** @returns the new comparison; null if it could not be saved, which a toast says */
  save(name: string, query: SavedComparison['query']): Promise<SavedComparison | null>;
  update(id: string, changes: Partial<Pick<SavedComparison, 'name' | 'query'>>): Promise<void>;
  remove(saved: SavedComparison): Promise<void>;
} {
  const hub = useHub();
  const toasts = useToastsStore();
  const loaded = useComparisonList();

  async function save(name: string, query: SavedComparison['query']): Promise<SavedComparison | null> {
    let saved: SavedComparison | null = null;
    await toasts.attempt(async () => {
      saved = await hub.saveComparison({ name, query });
      toasts.tell(`${name} was saved.`);
    });
    await loaded.reload();
    return saved;
  }

  async function update(id: string, changes: Partial<Pick<SavedComparison, 'name' | 'query'>>): Promise<void> {
    await toasts.attempt(async () => {
      const { name } = await hub.updateComparison(id, changes);
      toasts.tell(changes.query === undefined ? `Renamed to ${name}.` : `${name} was saved.`);
    });
    await loaded.reload();
  }

  async function remove({ id, name }: SavedComparison): Promise<void> {
    await toasts.attempt(async () => {
      const { deletion } = await hub.deleteComparison(id);
      toasts.tell(`${name} was deleted. Its runs stay.`, async () => {
        await hub.undoDelete(deletion);
        await loaded.reload();
      });
    });
    await loaded.reload();
  }

  return { ...loaded, save, update, remove };
}

function useComparisonList(): Loaded<ComparisonList> {
  const hub = useHub();
  const session = useSessionStore();
  const loaded = useLoaded(async () => (session.isOwner ? hub.comparisons() : { comparisons: [], problems: [] }));
  watch(
    () => session.isOwner,
    () => void loaded.reload(),
  );
  return loaded;
}

/** Names the saved comparison in the address of its page. */
export const savedParameter = 'saved';

/**
 * What a saved comparison keeps of an address: all of its parameters that have a value, but not the name of the saved
 * comparison.
 */
export function queryToSave(query: Readonly<Record<string, unknown>>): SavedComparison['query'] {
  const texts = Object.entries(query).filter(([name, value]) => name !== savedParameter && typeof value === 'string');
  return Object.fromEntries(texts as [string, string][]);
}

/** Whether an address shows something else than what was saved. */
export function isChanged(saved: SavedComparison, query: Readonly<Record<string, unknown>>): boolean {
  const spell = (entries: SavedComparison['query']): string =>
    JSON.stringify(Object.entries(entries).toSorted(([left], [right]) => (left < right ? -1 : 1)));
  return spell(saved.query) !== spell(queryToSave(query));
}

/** How many runs and sweeps it compares. */
export function countRuns({ query }: SavedComparison): number {
  return query.runs.split(',').filter(Boolean).length;
}
