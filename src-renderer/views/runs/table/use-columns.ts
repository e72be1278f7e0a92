import { computed, type ComputedRef, type Ref } from 'vue';
import { z } from 'zod';
import { maximumFields } from '../../../../core/protocol/pages/runs/run-fields.ts';
import { useQueryParameter } from '../../../composables/use-query.ts';
import { useStored } from '../../../stores/settings.ts';
import { type Column, columnOf, defaultColumns, isColumn, leastWidth, moved, mostWidth } from './columns.ts';

export type Density = 'comfortable' | 'compact';

export interface RunColumns {
  columns: ComputedRef<Column[]>;
  isDefault: ComputedRef<boolean>;
  density: Ref<Density>;
  /** Whether the user chose the width of a column. */
  isFixed(key: string): boolean;
  toggle(key: string): void;
  move(key: string, by: number): void;
  /** @param width in CSS pixels */
  resize(key: string, width: number): void;
  reset(): void;
}

/**
 * The columns of the table. The address names them, so that a link shows the same table; without it, this browser's
 * last choice counts. Widths and density are this browser's.
 */
export function useColumns(): RunColumns {
  const parameter = useQueryParameter('columns');
  const stored = useStored<string[]>('tutti.runs.columns', z.array(z.string()), [...defaultColumns]);
  const widths = useStored<Record<string, number>>('tutti.runs.widths', z.record(z.string(), z.number()), {});
  const density = useStored<Density>('tutti.runs.density', z.enum(['comfortable', 'compact']), 'comfortable');

  const keys = computed(() => {
    const named = parameter.value === '' ? stored.value : parameter.value.split(',');
    return [...new Set(named.filter(isColumn))].slice(0, maximumFields);
  });
  function show(next: readonly string[]): void {
    stored.value = [...next];
    const isUsual = next.join() === defaultColumns.join();
    parameter.value = isUsual ? '' : next.join(',');
  }
  return {
    columns: computed(() => keys.value.map((key) => columnOf(key, widths.value[key]))),
    isDefault: computed(() => keys.value.join() === defaultColumns.join()),
    density,
    isFixed: (key) => widths.value[key] !== undefined,
    toggle: (key) =>
      show(keys.value.includes(key) ? keys.value.filter((other) => other !== key) : [...keys.value, key]),
    move: (key, by) => show(moved(keys.value, key, by)),
    resize: (key, width) => {
      const bounded = Math.round(Math.min(Math.max(width, leastWidth), mostWidth));
      widths.value = { ...widths.value, [key]: bounded };
    },
    reset: () => {
      widths.value = {};
      show(defaultColumns);
    },
  };
}
