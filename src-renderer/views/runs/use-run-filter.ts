import { computed, type ComputedRef } from 'vue';
import { useRoute, useRouter } from 'vue-router';
import { runStatusSchema } from '../../../core/protocol/run/record.ts';
import { useQueryParameter } from '../../composables/use-query.ts';
import { sortKeys } from '../../../core/protocol/pages/run-list.ts';
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
    sort: sortKeys.find((key) => key === text('sort')) ?? 'created',
    isDescending: text('order') !== 'up',
  }));

  function change(changes: Partial<RunFilter>): void {
    const parameters = Object.entries(parametersOf({ ...filter.value, ...changes }));
    const given = parameters.map(([name, value]) => [name, value === '' ? undefined : value]);
    void router.replace({ query: { ...route.query, ...Object.fromEntries(given) } });
  }
  return { filter, change };
}

/** Query parameters of a filter, empty at their defaults. */
function parametersOf({ search, status, project, tag, isArchived, sort, isDescending }: RunFilter) {
  return {
    search,
    status,
    project,
    tag,
    archived: isArchived ? '1' : '',
    sort: sort === 'created' ? '' : sort,
    order: isDescending ? '' : 'up',
  };
}

/** The runs selected for comparison, kept in the address. */
export function useSelection(): {
  selected: ComputedRef<ReadonlySet<string>>;
  toggle(id: string): void;
  clear(): void;
} {
  const parameter = useQueryParameter('selected');
  const selected = computed(() => new Set(parameter.value.split(',').filter(Boolean)));

  function toggle(id: string): void {
    const next = new Set(selected.value);
    if (!next.delete(id)) next.add(id);
    parameter.value = [...next].join(',');
  }
  return { selected, toggle, clear: () => (parameter.value = '') };
}
