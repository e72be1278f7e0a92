import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import { noteData } from '../notes.ts';
import { createDataset, createSplits, type Dataset, type Splits } from '../dataset.ts';
import type { SeriesOrigin } from './series-of.ts';
import { type OrderedSteps, orderSteps, type StepOrder } from './steps.ts';

/**
 * A series of T steps with C values each, or several of them below each other, and the windows that are cut out of it.
 */
export interface SeriesOptions extends StepOrder {
  name: string;
  /** Values `[T, C]`, row by row. */
  values: Float32Array;
  /** C; 1 by default. */
  columns?: number;
  /** Steps that a model sees. */
  length: number;
  /** Steps that it predicts; 1 by default. */
  horizon?: number;
  /** Steps from one window to the next; 1 by default. */
  stride?: number;
  /** The columns that it predicts; all by default. */
  targetColumns?: readonly number[];
  /** Where `seriesOf` found the series: the run then keeps how a table becomes samples, if the values are the same. */
  origin?: SeriesOrigin;
}

/** Sizes of the last periods of a series: below 1 a fraction of its times, from 1 a number of times. */
export interface SeriesSplitSizes {
  validation?: number;
  test?: number;
}

/**
 * Windows over a series, with the times that each covers where windows share some: features `[N, length, C]`, and as
 * targets the `horizon` steps after them, `[N, horizon · targetColumns]`, step by step. With `time` the steps are
 * sorted and checked; no window crosses from one `entity` to the next.
 * @throws RangeError if the series is too short for one window, its steps are uneven, or an option is impossible
 */
export function windows(options: SeriesOptions): Dataset {
  const steps = orderedSteps(options);
  return cut(options, steps, options.name, [0, steps.times]);
}

/**
 * Windows with the last times of the series for testing, those before them for validation, and the rest for training;
 * several series are divided at the same times. A window belongs to the period that holds all its targets; its features
 * may reach back into the period before, which a forecast may use. No target is in two splits, and none in training
 * comes after one of validation. `standardize` then scales by training alone.
 * @throws RangeError if a period is too short for one window, or as `windows`
 */
export function windowSplits(options: SeriesOptions, sizes: SeriesSplitSizes): Splits {
  const steps = orderedSteps(options);
  const { times } = steps;
  const testFrom = times - countOf(sizes.test ?? 0, times);
  const validationFrom = testFrom - countOf(sizes.validation ?? 0, times);
  const period = (split: string, from: number, end: number): Dataset | undefined =>
    from === end ? undefined : cut(options, steps, `${options.name} ${split}`, [from, end]);
  const train = period('train', 0, validationFrom);
  if (train === undefined) {
    throw new RangeError(`Series "${options.name}": validation and test leave no steps to train on.`);
  }
  const preprocessing = preprocessingOf(options);
  return createSplits({
    train,
    validation: period('validation', validationFrom, testFrom),
    test: period('test', testFrom, times),
    ...(preprocessing && { preprocessing }),
  });
}

/** How a table becomes samples: the last steps of each series are one. Null where the values are not a table's. */
function preprocessingOf({ origin, values, length, gaps, ...options }: SeriesOptions): Preprocessing | null {
  if (origin === undefined || origin.values !== values) return null;
  const { reading, columns, time, entity } = origin;
  const { horizon = 1, targetColumns = columns.keys() } = options;
  const targets = [...targetColumns].map((column) => columns[column].name);
  const names = Array.from({ length: horizon }, (_, i) => {
    return targets.map((name) => (horizon === 1 ? name : `${name} +${i + 1}`));
  }).flat();
  return {
    format: 1,
    steps: [{ kind: 'series', columns: [...columns], length, time, entity, gaps: gaps ?? null }],
    target: { kind: 'values', columns: names, mean: names.map(() => 0), std: names.map(() => 1) },
    ...(reading && { reading }),
  };
}

/** Windows whose targets all lie in a period of times, from its first to before its end. */
function cut(options: SeriesOptions, steps: OrderedSteps, name: string, period: [number, number]): Dataset {
  const { values, columns = 1, length, horizon = 1, stride = 1 } = options;
  const targetColumns = options.targetColumns ?? Array.from({ length: columns }, (_, column) => column);
  const firsts = steps.parts.flatMap((part) => firstTargets(options, steps, part, period));
  if (firsts.length === 0) {
    throw new RangeError(
      `Series "${options.name}": there is no window of ${length} steps before ${horizon} steps to predict. Make ` +
        'length or horizon smaller, or the period longer.',
    );
  }
  const { rows, positions } = steps;
  const width = horizon * targetColumns.length;
  const features = new Float32Array(firsts.length * length * columns);
  const targets = new Float32Array(firsts.length * width);
  const spans = new Int32Array(firsts.length * 2);
  for (const [i, first] of firsts.entries()) {
    for (let step = 0; step < length; step++) {
      const row = rows[first - length + step];
      features.set(values.subarray(row * columns, (row + 1) * columns), (i * length + step) * columns);
    }
    spans.set([positions[first - length], positions[first + horizon - 1] + 1], 2 * i);
    for (let j = 0; j < width; j++) {
      const row = rows[first + Math.floor(j / targetColumns.length)];
      targets[i * width + j] = values[row * columns + targetColumns[j % targetColumns.length]];
    }
  }
  const sharesTimes = stride < length + horizon || options.entity !== undefined;
  return createDataset({ name, features, featureShape: [length, columns], targets, ...(sharesTimes && { spans }) });
}

/** The first target steps of the windows within a part of the steps. */
function firstTargets(
  { length, horizon = 1, stride = 1 }: SeriesOptions,
  { positions }: OrderedSteps,
  [start, end]: [number, number],
  [from, until]: [number, number],
): number[] {
  let first = start + length;
  while (first < end && positions[first] < from) first++;
  let last = end;
  while (last > first && positions[last - 1] >= until) last--;
  const count = Math.max(0, Math.floor((last - horizon - first) / stride) + 1);
  return Array.from({ length: count }, (_, i) => first + i * stride);
}

/** The steps in their order. Notes what nothing checks, and what is left out. */
function orderedSteps(options: SeriesOptions): OrderedSteps {
  const { name, time } = options;
  const steps = orderSteps(name, stepsOf(options), options);
  if (time === undefined) {
    noteData(
      `The steps of "${name}" are taken in the order in which they come, which nothing checks. Name the column of ` +
        "the time, and of the entity where there are several series: seriesOf(table, columns, { time: 'date', " +
        "entity: 'station' }).",
    );
  }
  noteShortParts(options, steps);
  return steps;
}

function noteShortParts({ name, length, horizon = 1 }: SeriesOptions, { parts, rows }: OrderedSteps): void {
  const short = parts.filter(([start, end]) => end - start < length + horizon);
  if (short.length === 0 || parts.length === 1) return;
  const [[first]] = short;
  noteData(
    `Series "${name}": ${short.length} of ${parts.length} entities or parts between gaps are shorter than the ` +
      `${length + horizon} steps of a window and are left out, first the one that begins in row ${rows[first] + 1}.`,
  );
}

/** The number of steps, T. @throws RangeError where an option is impossible */
function stepsOf({ name, values, columns = 1, length, horizon = 1, stride = 1, targetColumns }: SeriesOptions): number {
  const steps = values.length / columns;
  for (const [option, value] of Object.entries({ columns, length, horizon, stride, steps })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`Series "${name}": ${option} is ${value}, but must be a whole number from 1.`);
    }
  }
  const outside = targetColumns?.find((column) => !Number.isInteger(column) || column < 0 || column >= columns);
  if (outside === undefined && targetColumns?.length !== 0) return steps;
  throw new RangeError(
    `Series "${name}": target column ${outside ?? 'none'} is not one of its columns 0 to ${columns - 1}.`,
  );
}

function countOf(size: number, steps: number): number {
  return size < 1 ? Math.round(size * steps) : size;
}
