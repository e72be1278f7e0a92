import type { RunStatus } from '../../../core/protocol/run/record.ts';
import type { RunRow } from '../../../core/protocol/pages/run-views.ts';

export const sortKeys = ['created', 'name', 'project', 'status', 'members', 'best', 'duration'] as const;
export type SortKey = (typeof sortKeys)[number];

/** Which runs the table shows, and in which order. An empty string matches all. */
export interface RunFilter {
  search: string;
  status: RunStatus | '';
  project: string;
  tag: string;
  /** Archived runs instead of the others. */
  isArchived: boolean;
  sort: SortKey;
  isDescending: boolean;
}

/** Runs that match the filter, sorted: equal ones newest first, runs without a value always last. */
export function filterRuns(rows: readonly RunRow[], filter: RunFilter): RunRow[] {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = rows.filter(
    (row) =>
      row.isArchived === filter.isArchived &&
      (filter.status === '' || row.status === filter.status) &&
      (filter.project === '' || row.project === filter.project) &&
      (filter.tag === '' || row.tags.includes(filter.tag)) &&
      hasWords(row, words),
  );
  const valueOf = sortValues[filter.sort];
  const sign = filter.isDescending ? -1 : 1;
  return matches.sort((a, b) => compare(valueOf(a), valueOf(b), sign) || compare(a.createdAt, b.createdAt, -1));
}

/** The order after a click on a column: reversed on the sorted column, else ascending, or newest first for `created`. */
export function sortedBy(filter: RunFilter, key: SortKey): Pick<RunFilter, 'sort' | 'isDescending'> {
  return { sort: key, isDescending: filter.sort === key ? !filter.isDescending : key === 'created' };
}

/** The projects and tags to choose from. */
export function choicesOf(rows: readonly RunRow[]): { projects: string[]; tags: string[] } {
  return {
    projects: [...new Set(rows.map(({ project }) => project))].sort(),
    tags: [...new Set(rows.flatMap(({ tags }) => tags))].sort(),
  };
}

/** From creation to the end, in seconds; null before the end. */
export function durationSeconds({ createdAt, endedAt }: RunRow): number | null {
  return endedAt === null ? null : (Date.parse(endedAt) - Date.parse(createdAt)) / 1000;
}

function hasWords(row: RunRow, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = [row.name, row.id, row.project, row.strategy, row.task, row.note, row.error, ...row.tags]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

type SortValue = string | number | null;

const sortValues: Record<SortKey, (row: RunRow) => SortValue> = {
  created: ({ createdAt }) => createdAt,
  name: ({ name }) => name.toLowerCase(),
  project: ({ project }) => project.toLowerCase(),
  status: ({ status }) => status,
  members: ({ members }) => members,
  best: ({ best }) => (best === null || Number.isNaN(best.value) ? null : best.value),
  duration: durationSeconds,
};

function compare(a: SortValue, b: SortValue, sign: 1 | -1): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -sign : sign;
}
