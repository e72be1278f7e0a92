import { computed, type ComputedRef } from 'vue';
import { useRoute, useRouter } from 'vue-router';
import { runStatusSchema } from '../../../core/protocol/run/record.ts';
import { useQueryParameter } from '../../composables/use-query.ts';
import { sortKeySchema } from '../../../core/protocol/pages/run-list.ts';
import { groupKeySchema } from '../../../core/protocol/pages/runs/run-fields.ts';
import type { RunFilter } from './run-filter.ts';

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
export interface RunSelection {
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
