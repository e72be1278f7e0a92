import { computed, type ComputedRef } from 'vue';
import { useQueryParameter } from '../../composables/use-query.ts';

/** Runs chosen for comparing, kept in the address. */
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
