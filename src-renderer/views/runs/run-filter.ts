import { type RunQuery, type RunRow, type SortKey, sortKeySchema } from '../../../core/protocol/pages/run-list.ts';
import { type GroupKey, groupKeySchema } from '../../../core/protocol/pages/runs/run-fields.ts';
import { type RunStatus, runStatusSchema } from '../../../core/protocol/run/record.ts';
import { computed, type ComputedRef } from 'vue';
import { useRoute, useRouter } from 'vue-router';
import { useQueryParameter } from '../../composables/use-query.ts';

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
  /** What the runs are grouped by; empty: nothing. */
  group: GroupKey;
  /** The groups that are open (`groupText`), as a list in JSON. */
  open: string;
}

/** The filter of a list that shows all runs. */
export const nothing = { search: '', status: '', project: '', tag: '', isArchived: false } as const;

/** Whether a filter leaves out some of the runs that are not archived. */
export function isFiltered({ search, status, project, tag, isArchived }: RunFilter): boolean {
  return search !== '' || status !== '' || project !== '' || tag !== '' || isArchived;
}

/** The filter as the hub takes it. @param fields values that the answer has for each row */
export function queryOf(
  { search, status, project, tag, isArchived, sort, isDescending }: RunFilter,
  fields: string[] = [],
): RunQuery {
  return {
    search,
    isArchived,
    isGrouped: true,
    fields,
    sort: { by: sort, isDescending },
    ...(status === '' ? {} : { statuses: [status] }),
    ...(project === '' ? {} : { project }),
    ...(tag === '' ? {} : { tag }),
  };
}

/**
 * The order after a click on a column: reversed on the sorted column, else ascending, or newest first for `created`.
 */
export function sortedBy(filter: RunFilter, key: SortKey): Pick<RunFilter, 'sort' | 'isDescending'> {
  return { sort: key, isDescending: filter.sort === key ? !filter.isDescending : key === 'created' };
}

/** What a row stands for: the sweep that it shows as one row, else the run. */
export function rowKey({ id, sweep }: Pick<RunRow, 'id' | 'sweep'>): string {
  return sweep?.id ?? id;
}

/** `a, b,, a` as the tags a and b. */
export function parseTags(text: string): string[] {
  const names = text.split(',').map((tag) => tag.trim());
  return [...new Set(names.filter((tag) => tag !== ''))];
}

/** What all runs can be grouped by, and the name of the group of those without a value. */
export const groupNames: readonly { key: GroupKey; title: string; lacks: string }[] = [
  { key: 'project', title: 'project', lacks: 'No project' },
  { key: 'sweep', title: 'sweep', lacks: 'In no sweep' },
  { key: 'tag', title: 'tag', lacks: 'No tag' },
  { key: 'status', title: 'status', lacks: 'No status' },
  { key: 'strategy', title: 'strategy', lacks: 'No strategy' },
  { key: 'task', title: 'task', lacks: 'No task' },
  { key: 'members', title: 'members', lacks: 'No members' },
  { key: 'devices', title: 'devices', lacks: 'No devices' },
  { key: 'commit', title: 'commit', lacks: 'No commit' },
];

/** The name of the group of runs without a value. */
export function lacksOf(group: GroupKey): string {
  return groupNames.find(({ key }) => key === group)?.lacks ?? 'Without this option';
}

/** The filter of the table, kept in the address. */
export function useRunFilter(): {
  filter: ComputedRef<RunFilter>;
  change(changes: Partial<RunFilter>): void;
} {
  const route = useRoute();
  const router = useRouter();
  const text = (name: string): string => (typeof route.query[name] === 'string' ? route.query[name] : '');

  const filter = computed<RunFilter>(() => ({
    search: text('search'),
    status: runStatusSchema.safeParse(text('status')).data ?? '',
    project: text('project'),
    tag: text('tag'),
    isArchived: text('archived') === '1',
    sort: sortKeySchema.safeParse(text('sort')).data ?? 'created',
    isDescending: text('order') !== 'up',
    group: groupKeySchema.safeParse(text('group')).data ?? '',
    open: text('open'),
  }));

  function change(changes: Partial<RunFilter>): void {
    const parameters = Object.entries(parametersOf({ ...filter.value, ...changes }));
    const given = parameters.map(([name, value]) => [name, value === '' ? undefined : value]);
    void router.replace({ query: { ...route.query, ...Object.fromEntries(given) } });
  }
  return { filter, change };
}

/** Query parameters of a filter, empty at their defaults. */
function parametersOf({ search, status, project, tag, isArchived, sort, isDescending, group, open }: RunFilter) {
  return {
    search,
    status,
    project,
    tag,
    archived: isArchived ? '1' : '',
    sort: sort === 'created' ? '' : sort,
    order: isDescending ? '' : 'up',
    group,
    open,
  };
}

/** The selected runs and sweeps, kept in the address. */
interface RunSelection {
  selected: ComputedRef<ReadonlySet<string>>;
  toggle(id: string): void;
  /** Selects these in addition. */
  add(ids: readonly string[]): void;
  clear(): void;
}

export function useSelection(): RunSelection {
  const parameter = useQueryParameter('selected');
  const selected = computed(() => new Set(parameter.value.split(',').filter(Boolean)));

  function toggle(id: string): void {
    const next = new Set(selected.value);
    if (!next.delete(id)) next.add(id);
    parameter.value = [...next].join(',');
  }
  function add(ids: readonly string[]): void {
    parameter.value = [...new Set([...selected.value, ...ids])].join(',');
  }
  return { selected, toggle, add, clear: () => (parameter.value = '') };
}
