import { computed, type ComputedRef, type Ref } from 'vue';
import { type Brushes, useAddressedBrushes, withBrush } from '../../../../charts/brushes.ts';
import type { ChartRange } from '../../../../charts/types.ts';
import { type ComparedSubject, labelOf } from '../compared-subject.ts';
import { allResults } from '../results/results.ts';
import { optionAxes, resultAxis, selectedPlaces, type SubjectAxis } from './option-axes.ts';

/** What the charts of options and results share. The address keeps the brushes. */
export interface Relations {
  options: ComputedRef<SubjectAxis[]>;
  results: ComputedRef<SubjectAxis[]>;
  labels: ComputedRef<string[]>;
  brushes: Ref<Brushes>;
  /** Places of the runs in all brushes. */
  selected: ComputedRef<number[]>;
  isSelected: ComputedRef<(place: number) => boolean>;
  brush: (axis: string, range: ChartRange | null) => void;
}

/** @param metrics those of the panels, whose last values are results */
export function useRelations(
  subjects: ComputedRef<readonly ComparedSubject[]>,
  metrics: ComputedRef<readonly string[]>,
): Relations {
  const brushes = useAddressedBrushes('compare');
  const options = computed(() => optionAxes(subjects.value));
  const results = computed(() =>
    allResults(subjects.value, metrics.value).map((result) => resultAxis(result, subjects.value)),
  );
  const selected = computed(() =>
    selectedPlaces(subjects.value.length, [...options.value, ...results.value], brushes.value),
  );
  return {
    options,
    results,
    labels: computed(() => subjects.value.map((subject) => labelOf(subject, subjects.value))),
    brushes,
    selected,
    isSelected: computed(() => {
      const places = new Set(selected.value);
      return (place: number) => places.has(place);
    }),
    brush: (axis, range) => {
      brushes.value = withBrush(brushes.value, axis, range);
    },
  };
}
