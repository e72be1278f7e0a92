import { createDataset, createSplits, type Dataset, type Splits } from '../dataset.ts';

/** A series of T steps with C values each, and the windows that are cut out of it. */
export interface SeriesOptions {
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
}

/** Sizes of the last periods of a series: below 1 a fraction of its steps, from 1 a number of steps. */
export interface SeriesSplitSizes {
  validation?: number;
  test?: number;
}

/**
 * Windows over a series, with the steps that each covers where windows share steps: features `[N, length, C]`, and as targets the `horizon` steps after them, `[N, horizon · targetColumns]`, step by step.
 * @throws RangeError if the series is too short for one window, or an option is impossible
 */
export function windows(options: SeriesOptions): Dataset {
  const steps = stepsOf(options);
  const { length, horizon = 1 } = options;
  return cut(options, options.name, length, steps - horizon);
}

/**
 * Windows with the last steps of the series for testing, those before them for validation, and the rest for training. A window belongs to the period that holds
 * all its targets; its features may reach back into the period before, which a forecast may use. No target is in two splits, and none in training comes
 * after one of validation. `standardize` then scales by training alone.
 * @throws RangeError if a period is too short for one window
 */
export function windowSplits(options: SeriesOptions, sizes: SeriesSplitSizes): Splits {
  const steps = stepsOf(options);
  const { name, length, horizon = 1 } = options;
  const testFrom = steps - countOf(sizes.test ?? 0, steps);
  const validationFrom = testFrom - countOf(sizes.validation ?? 0, steps);
  const period = (split: string, from: number, end: number): Dataset | undefined =>
    from === end ? undefined : cut(options, `${name} ${split}`, Math.max(length, from), end - horizon);
  const train = period('train', 0, validationFrom);
  if (train === undefined) throw new RangeError(`Series "${name}": validation and test leave no steps to train on.`);
  return createSplits({
    train,
    validation: period('validation', validationFrom, testFrom),
    test: period('test', testFrom, steps),
  });
}

/** Windows whose first target is a step from `from` to `last`. */
function cut(options: SeriesOptions, name: string, from: number, last: number): Dataset {
  const { values, columns = 1, length, horizon = 1, stride = 1 } = options;
  const targetColumns = options.targetColumns ?? Array.from({ length: columns }, (_, column) => column);
  const count = Math.floor((last - from) / stride) + 1;
  if (count < 1) {
    throw new RangeError(
      `Series "${name}": there is no window of ${length} steps before ${horizon} steps to predict. Make length or horizon smaller, or ` +
        'the period longer.',
    );
  }
  const width = horizon * targetColumns.length;
  const features = new Float32Array(count * length * columns);
  const targets = new Float32Array(count * width);
  const spans = new Int32Array(count * 2);
  for (let i = 0; i < count; i++) {
    const first = from + i * stride;
    features.set(values.subarray((first - length) * columns, first * columns), i * length * columns);
    spans.set([first - length, first + horizon], 2 * i);
    for (let j = 0; j < width; j++) {
      const step = first + Math.floor(j / targetColumns.length);
      targets[i * width + j] = values[step * columns + targetColumns[j % targetColumns.length]];
    }
  }
  const sharesSteps = stride < length + horizon;
  return createDataset({ name, features, featureShape: [length, columns], targets, ...(sharesSteps && { spans }) });
}

/** The number of steps T. @throws RangeError where an option is impossible */
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
