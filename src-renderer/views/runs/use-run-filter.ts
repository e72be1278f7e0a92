import { computed, type ComputedRef } from 'vue';
import { useRoute, useRouter } from 'vue-router';
import { runStatusSchema } from '../../../core/protocol/run/record.ts';
import { type RunFilter, sortKeys } from './run-filter.ts';

/** The filter as the address has it; changing it changes the address. */
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
    const { search, status, project, tag, isArchived, sort, isDescending } = { ...filter.value, ...changes };
    const parameters = {
      search,
      status,
      project,
      tag,
      archived: isArchived ? '1' : '',
      sort: sort === 'created' ? '' : sort,
      order: isDescending ? '' : 'up',
    };
    const given = Object.entries(parameters).map(([name, value]) => [name, value === '' ? undefined : value]);
    void router.replace({ query: { ...route.query, ...Object.fromEntries(given) } });
  }
  return { filter, change };
}
