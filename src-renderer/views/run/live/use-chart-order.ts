import { computed, type ComputedRef, ref, type Ref } from 'vue';
import { z } from 'zod';
import { usePreferences } from '../../../stores/preferences.ts';
import { type ChartSpec, inOrder, moved } from './chart-specs.ts';

const orderSchema = z.array(z.string());

export interface ChartOrder {
  ordered: ComputedRef<ChartSpec[]>;
  /** The chart that is dragged; null while none is. */
  dragged: Ref<string | null>;
  /** Puts the dragged chart in the place of another. */
  dropOn(id: string): void;
  /** Moves a chart by so many places; the first place is the big one. */
  shift(id: string, places: number): void;
}

/** The order of a project's charts, remembered for all its runs. */
export function useChartOrder(projectFolder: string, specs: ComputedRef<ChartSpec[]>): ChartOrder {
  const preferences = usePreferences(projectFolder);
  const dragged = ref<string | null>(null);
  const ordered = computed(() => inOrder(specs.value, preferences.get('chart-order', orderSchema, [])));
  const ids = computed(() => ordered.value.map(({ id }) => id));

  function dropOn(id: string): void {
    if (dragged.value !== null && dragged.value !== id) {
      preferences.set('chart-order', moved(ids.value, dragged.value, id));
    }
    dragged.value = null;
  }

  function shift(id: string, places: number): void {
    const target = ids.value.at(Math.max(0, ids.value.indexOf(id) + places));
    if (target !== undefined) preferences.set('chart-order', moved(ids.value, id, target));
  }

  return { ordered, dragged, dropOn, shift };
}
