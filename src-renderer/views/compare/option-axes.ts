import { configDifferences, configHistory, spellValue } from '../run/configuration/config-history.ts';
import { scaleAround } from '../../charts/columns.ts';
import type { PlotAxis } from '../../charts/scene/axes.ts';
import { labelOfOption } from '../../components/basic/format.ts';
import { allResults, type Result } from './results/results.ts';
import { type ComparedSubject, labelOf } from './compared-subject.ts';
import type { ParallelGroup } from '../../charts/figures/parallel-lines.ts';
import type { PointGroup } from '../../charts/scatter/scatter.ts';
import { type Brushes, isWithin, useAddressedBrushes, withBrush } from '../../charts/brushes.ts';
import { computed, type ComputedRef, type Ref } from 'vue';
import type { ChartRange } from '../../charts/types.ts';

/** A quantity of what is compared: an option in which it differs, or a result. */
export interface SubjectAxis extends PlotAxis {
  id: string;
  /** How far a key moves an end of a brush, as a share of the axis. */
  keyStep: number;
  /** One value for each subject, in their order; NaN for none. */
  values: readonly number[];
  /** Their standard errors, NaN for none; absent for options. */
  errors?: readonly number[];
}

/** The largest of positive values is at least so many times the smallest: their axis is logarithmic. */
const leastLogFactor = 30;
const keyStep = 0.02;
/** Longer names of choices are cut off. */
const mostCharacters = 18;

/**
 * The options in which runs differ, with the values that they ended with, those with the most values first, and last
 * those that only some runs have. Numbers lie on their scale; where any run has something else, such as a name, all lie
 * at whole numbers from 0 in the order of their first appearance.
 */
export function optionAxes(subjects: readonly ComparedSubject[]): SubjectAxis[] {
  const differences = configDifferences(subjects.map(({ runs: [{ record }] }) => configHistory(record)));
  const columns = differences.map(({ path, values }) => ({ path, last: values.map((history) => history.at(-1)) }));
  const projects = subjects.map(({ runs: [{ row }] }) => row.project);
  const differing = [...columns, { path: 'project', last: projects }]
    .filter(({ last }) => new Set(last.map(spellValue)).size > 1)
    .map((column) => ({ ...column, count: new Set(column.last.filter(isKnown).map(spellValue)).size }))
    .toSorted((left, right) => right.count - left.count);
  const labels = differing.map(({ path }) => labelOfOption(path));
  return differing.map(({ path, last }, index) => {
    const isShared = labels.indexOf(labels[index]) !== labels.lastIndexOf(labels[index]);
    return axisOf(path, isShared ? path : labels[index], last);
  });
}

/** Whether a run has the option, and a value of it. */
function isKnown(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The axis of a result, with the standard errors of sweeps. */
export function resultAxis({ id, label, of }: Result, subjects: readonly ComparedSubject[]): SubjectAxis {
  const found = subjects.map((subject) => of(subject));
  const values = found.map(({ mean, count }) => (count === 0 ? NaN : mean));
  const errors = found.map(({ standardError }) => standardError);
  // With room for the bars of the errors.
  const ends = [-1, 1].map((sign) => values.map((value, place) => value + sign * (errors[place] || 0)));
  return { id, label, keyStep, values, errors, scale: scaleAround(ends, isWide(values)) };
}

function axisOf(path: string, label: string, values: readonly unknown[]): SubjectAxis {
  const id = `option ${path}`;
  const known = values.filter(isKnown);
  if (known.every((value) => typeof value === 'number')) {
    const numbers = values.map((value) => (typeof value === 'number' ? value : NaN));
    return { id, label, keyStep, values: numbers, scale: scaleAround([numbers], isWide(numbers)) };
  }
  const choices = [...new Set(known.map(spellValue))];
  return {
    id,
    label,
    keyStep: Math.max(keyStep, 1 / choices.length),
    values: values.map((value) => (isKnown(value) ? choices.indexOf(spellValue(value)) : NaN)),
    scale: { from: -0.5, to: choices.length - 0.5, isLog: false },
    ticks: choices.map((choice, value) => ({ value, label: shortened(choice) })),
  };
}

/** Whether a logarithmic axis shows values better: they are all positive and span orders of magnitude. */
export function isWide(values: readonly number[]): boolean {
  const finite = values.filter((value) => Number.isFinite(value));
  if (finite.length === 0) return false;
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  return low > 0 && high >= leastLogFactor * low;
}

function shortened(text: string): string {
  return text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters - 1)}…`;
}

/** More axes than this are hard to read; a menu adds others. */
const usualOptions = 5;
const usualResults = 2;

/**
 * The axes of the parallel coordinates: those of the address, or the first options and results. Options come before
 * results.
 */
export function chosenAxes(
  asked: readonly string[],
  options: readonly SubjectAxis[],
  results: readonly SubjectAxis[],
): SubjectAxis[] {
  const named = [...options, ...results].filter(({ id }) => asked.includes(id));
  return named.length > 0 ? named : [...options.slice(0, usualOptions), ...results.slice(0, usualResults)];
}

/** The numbers of runs in charts: their places, from 1. */
export function numberOf(place: number): number {
  return place + 1;
}

/** A point for each run in its colour; faint where it is not selected. */
export function scatterGroups(
  labels: readonly string[],
  isSelected: (place: number) => boolean,
  x: SubjectAxis,
  y: SubjectAxis,
): PointGroup[] {
  return labels.map((label, place) => ({
    label,
    rank: place,
    symbol: 'dot',
    isFaded: !isSelected(place),
    ids: [numberOf(place)],
    x: [x.values[place]],
    y: [y.values[place]],
    errors: [y.errors?.[place] ?? NaN],
  }));
}

/** A line for each run in its colour; faint where it is not selected. */
export function lineGroups(
  labels: readonly string[],
  isSelected: (place: number) => boolean,
  axes: readonly SubjectAxis[],
): ParallelGroup[] {
  return labels.map((label, place) => ({
    label,
    rank: place,
    isFaded: !isSelected(place),
    opacity: isSelected(place) ? 0.9 : 0.15,
    width: 1.5,
    ids: [numberOf(place)],
    rows: [axes.map(({ values }) => values[place])],
  }));
}

/** The places that lie in the brush of every axis that has one. */
export function selectedPlaces(count: number, axes: readonly SubjectAxis[], brushes: Brushes): number[] {
  const placed = axes.map(({ id, values }) => ({ id, valueOf: (place: number) => values[place] }));
  return Array.from({ length: count }, (_, place) => place).filter((place) => isWithin(place, placed, brushes));
}

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
