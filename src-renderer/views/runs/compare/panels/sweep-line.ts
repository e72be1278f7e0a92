import { estimate } from '../../../../../core/numeric/estimate.ts';
import type { ChartSeries } from '../../../../charts/types.ts';

/** A line of one run, without its look. */
type RunLine = Pick<ChartSeries, 'x' | 'y' | 'length'>;

/**
 * The mean of the lines of a sweep's runs at each step, with the mean ± its standard error (s / √n, n − 1) as the area
 * behind it. Between the points of a run its value is interpolated; after its end, and where it is NaN, the others
 * alone count. The area is absent where fewer than two do.
 */
export function meanLine(lines: readonly RunLine[]): Pick<ChartSeries, 'x' | 'y' | 'length' | 'band'> {
  const steps = [...new Set(lines.flatMap(({ x, length }) => Array.from(x.step.subarray(0, length))))].sort(
    (left, right) => left - right,
  );
  const step = Float64Array.from(steps);
  const values = lines.map(({ x, y, length }) => interpolate(x.step, y, length, step));
  const [y, lower, upper] = [step, step, step].map(() => new Float64Array(step.length).fill(NaN));
  for (let index = 0; index < step.length; index++) {
    const known = values.map((own) => own[index]).filter((value) => Number.isFinite(value));
    if (known.length === 0) continue;
    const { mean, standardError } = estimate(known);
    y[index] = mean;
    lower[index] = mean - standardError;
    upper[index] = mean + standardError;
  }
  return {
    x: { step, epoch: meanOf(lines, 'epoch', step), time: meanOf(lines, 'time', step) },
    y,
    length: step.length,
    band: { lower, upper },
  };
}

/** Where the runs were at each step, on average: runs differ a little in their times. */
function meanOf(lines: readonly RunLine[], axis: 'epoch' | 'time', step: Float64Array): Float64Array {
  const columns = lines.flatMap(({ x, length }) => {
    const column = x[axis];
    return column === null ? [] : [interpolate(x.step, column, length, step)];
  });
  const means = step.map((_, index) => {
    const known = columns.map((column) => column[index]).filter((value) => Number.isFinite(value));
    return estimate(known).mean;
  });
  // Where a slow run ends, the mean time of the others may be earlier. A line never goes back.
  for (let index = 1; index < means.length; index++) {
    if (means[index] < means[index - 1]) means[index] = means[index - 1];
  }
  return means;
}

/**
 * The values at `at`, which is ascending: on the straight line between two points, NaN before the first and after the
 * last.
 */
function interpolate(
  steps: ArrayLike<number>,
  values: ArrayLike<number>,
  length: number,
  at: Float64Array,
): Float64Array {
  let right = 0;
  return at.map((step) => {
    while (right < length && steps[right] < step) right++;
    if (right === length) return NaN;
    if (steps[right] === step) return values[right];
    if (right === 0) return NaN;
    const share = (step - steps[right - 1]) / (steps[right] - steps[right - 1]);
    return values[right - 1] + share * (values[right] - values[right - 1]);
  });
}
