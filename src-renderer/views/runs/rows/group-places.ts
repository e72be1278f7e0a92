import type { FieldValue } from '../../../../core/protocol/pages/runs/run-fields.ts';

/** A group of the list, and the rows that it shows below its own: 0 while it is closed. */
export interface PlacedGroup {
  rows: number;
}

/** A place of the list: a group's own row, or the row of one of its runs. */
export type ListPlace = { group: number; row: null } | { group: number; row: number };

/** Number of rows of a list of groups. */
export function countRows(groups: readonly PlacedGroup[]): number {
  return groups.reduce((sum, { rows }) => sum + 1 + rows, 0);
}

/** What is at an index of the list; null behind its end. */
export function placeAt(groups: readonly PlacedGroup[], index: number): ListPlace | null {
  let first = 0;
  for (const [group, { rows }] of groups.entries()) {
    if (index === first) return { group, row: null };
    if (index <= first + rows) return { group, row: index - first - 1 };
    first += 1 + rows;
  }
  return null;
}

/** The rows of each group that lie between two indices of the list, both included. */
export function rowsBetween(
  groups: readonly PlacedGroup[],
  first: number,
  last: number,
): { group: number; first: number; last: number }[] {
  let start = 0;
  const found = groups.map(({ rows }, group) => {
    const from = start + 1;
    start += 1 + rows;
    return { group, first: Math.max(0, first - from), last: Math.min(rows - 1, last - from) };
  });
  return found.filter((range) => range.first <= range.last);
}

/** A value of a group as a text, for the address: different values have different texts. */
export function groupText(value: FieldValue | null): string {
  return JSON.stringify(value);
}
