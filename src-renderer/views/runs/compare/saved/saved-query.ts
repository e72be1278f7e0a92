import type { SavedComparison } from '../../../../../core/protocol/pages/comparisons/saved-comparison.ts';

/** Names the saved comparison in the address of its page. */
export const savedParameter = 'saved';

/** What a saved comparison keeps of an address: all of its parameters that have a value, but not the name of the saved comparison. */
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
