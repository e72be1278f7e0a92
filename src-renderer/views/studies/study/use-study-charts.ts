import { computed, type ComputedRef, type Ref, shallowRef, type WritableComputedRef } from 'vue';
import type { StudyTrial, StudyView } from '../../../../core/protocol/pages/study-views.ts';
import { orderSpace, type Space } from '../../../../core/studies/space/space.ts';
import type { ChartRange } from '../../../charts/types.ts';
import type { Brush } from '../../../charts/scatter/scatter.ts';
import { useQueryParameter } from '../../../composables/use-query.ts';
import { type Brushes, isWithin, useAddressedBrushes, withBrush } from '../../../charts/brushes.ts';
import { numberAxis, objectiveAxis, parameterAxes, type TrialAxis } from '../trial-groups.ts';

/** What all charts and the table of a study share. The address keeps brushes, picks, objective and scale. */
export interface StudyCharts {
  space: ComputedRef<Space>;
  trials: ComputedRef<readonly StudyTrial[]>;
  /** The order of the trials, the parameters, then the objectives. */
  axes: ComputedRef<TrialAxis[]>;
  numbers: ComputedRef<TrialAxis>;
  parameters: ComputedRef<TrialAxis[]>;
  objectives: ComputedRef<TrialAxis[]>;
  /** Index of the objective that charts with one objective show. */
  index: WritableComputedRef<number>;
  /** Its axis. */
  objective: ComputedRef<TrialAxis>;
  isLog: WritableComputedRef<boolean>;
  brushes: Ref<Brushes>;
  isSelected: ComputedRef<(trial: StudyTrial) => boolean>;
  /** The trials in all brushes. */
  selected: ComputedRef<StudyTrial[]>;
  hovered: Ref<number | null>;
  /** Numbers of the trials picked for an ensemble. */
  picked: WritableComputedRef<ReadonlySet<number>>;
  toggle(number: number): void;
  brush(axis: string, range: ChartRange | null): void;
  /** Properties and events of every chart of trials. */
  common: ComputedRef<{
    idName: string;
    runName: string;
    hovered: number | null;
    onHover: (number: number | null) => void;
    onPick: (number: number) => void;
  }>;
  /** The brush of a chart with two of the axes, and the event that draws it. */
  brushed(x: TrialAxis, y: TrialAxis): { brush: Brush; onBrush: (values: Brush) => void };
}

export function useStudyCharts(view: Readonly<Ref<StudyView>>): StudyCharts {
  const trials = computed(() => view.value.trials);
  const space = computed(() => orderSpace(view.value.study.space));
  const { index, isLog, brushes, picked } = useAddress(view);
  const numbers = computed(() => numberAxis(trials.value));
  const parameters = computed(() => parameterAxes(space.value));
  const objectives = computed(() =>
    view.value.study.objectives.map((objective, at) => objectiveAxis(objective, at, trials.value, isLog.value)),
  );
  const axes = computed(() => [numbers.value, ...parameters.value, ...objectives.value]);
  const selected = computed(() => trials.value.filter((trial) => isWithin(trial, axes.value, brushes.value)));
  // Every chart asks for every trial.
  const isSelected = computed(() => {
    const numbersOfSelected = new Set(selected.value.map(({ number }) => number));
    return ({ number }: StudyTrial) => numbersOfSelected.has(number);
  });
  const hovered = shallowRef<number | null>(null);
  const toggle = (number: number): void => {
    const next = new Set(picked.value);
    if (!next.delete(number)) next.add(number);
    picked.value = next;
  };
  const shared = { space, trials, axes, numbers, parameters, objectives, index, isLog, brushes, selected, isSelected };
  return {
    ...shared,
    picked,
    ...brushing(brushes),
    objective: computed(() => objectives.value[index.value]),
    hovered,
    toggle,
    common: computed(() => ({
      idName: 'trial',
      runName: view.value.study.name,
      hovered: hovered.value,
      onHover: (number) => (hovered.value = number),
      onPick: toggle,
    })),
  };
}

function brushing(brushes: Ref<Brushes>): Pick<StudyCharts, 'brush' | 'brushed'> {
  const rangeOf = ({ id }: TrialAxis): ChartRange | null =>
    Object.hasOwn(brushes.value, id) ? brushes.value[id] : null;
  return {
    brush: (axis, range) => {
      brushes.value = withBrush(brushes.value, axis, range);
    },
    brushed: (x, y) => ({
      brush: { x: rangeOf(x), y: rangeOf(y) },
      onBrush: (values) => {
        brushes.value = withBrush(withBrush(brushes.value, x.id, values.x), y.id, values.y);
      },
    }),
  };
}

function useAddress(view: Readonly<Ref<StudyView>>) {
  const picks = useQueryParameter('picked');
  const chosen = useQueryParameter('objective', '0');
  const scale = useQueryParameter('scale');
  return {
    index: computed({
      get: () => (Number(chosen.value) in view.value.study.objectives ? Number(chosen.value) : 0),
      set: (value) => (chosen.value = String(value)),
    }),
    isLog: computed({ get: () => scale.value === 'log', set: (value) => (scale.value = value ? 'log' : '') }),
    brushes: useAddressedBrushes('study'),
    picked: computed<ReadonlySet<number>>({
      get: () => new Set(picks.value.split(',').filter(Boolean).map(Number).filter(Number.isInteger)),
      set: (value) => (picks.value = [...value].join(',')),
    }),
  };
}
