import { computed, type ComputedRef, ref, type Ref } from 'vue';
import { z } from 'zod';
import { usePreferences } from '../../../../stores/preferences.ts';
import { type ChartSize, chartSizesSchema, sizeOf } from './chart-sizes.ts';
import { type ChartSpec, inOrder, moved } from './chart-specs.ts';

const orderSchema = z.array(z.string());

export interface ChartLayout {
  ordered: ComputedRef<ChartSpec[]>;
  /** The dragged chart; null without a drag. */
  dragged: Ref<string | null>;
  /** Moves the dragged chart to the place of another. */
  dropOn(id: string): void;
  /** Moves a chart by a number of places. */
  shift(id: string, places: number): void;
  sizeOf(id: string): ChartSize;
  resize(id: string, size: ChartSize): void;
}

/** Order and sizes of a project's charts, shared by all its runs. */
export function useChartLayout(projectFolder: string, specs: ComputedRef<ChartSpec[]>): ChartLayout {
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

  const sizes = computed(() => preferences.get('chart-sizes', chartSizesSchema, {}));

  return {
    ordered,
    dragged,
    dropOn,
    shift,
    sizeOf: (id) => sizeOf(sizes.value, id, ids.value.indexOf(id)),
    resize: (id, size) => preferences.set('chart-sizes', { ...sizes.value, [id]: size }),
  };
}
