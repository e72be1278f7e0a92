import type { RunQuery, RunRow, SortKey } from '../../../core/protocol/pages/run-list.ts';
import type { RunStatus } from '../../../core/protocol/run/record.ts';

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

/** The filter as the hub takes it. */
export function queryOf({ search, status, project, tag, isArchived, sort, isDescending }: RunFilter): RunQuery {
  return {
    search,
    isArchived,
    isGrouped: true,
    sort: { by: sort, isDescending },
    ...(status === '' ? {} : { statuses: [status] }),
    ...(project === '' ? {} : { project }),
    ...(tag === '' ? {} : { tag }),
  };
}

/** The order after a click on a column: reversed on the sorted column, else ascending, or newest first for `created`. */
export function sortedBy(filter: RunFilter, key: SortKey): Pick<RunFilter, 'sort' | 'isDescending'> {
  return { sort: key, isDescending: filter.sort === key ? !filter.isDescending : key === 'created' };
}

/** What a row stands for: the sweep that it shows as one row, else the run. */
export function rowKey({ id, sweep }: Pick<RunRow, 'id' | 'sweep'>): string {
  return sweep?.id ?? id;
}
