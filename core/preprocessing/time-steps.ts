/** Which series each row is of, such as a station, and when it was. */
export interface TimedRows {
  /** Times in any unit, without NaN; shape `[T]`. */
  time: ArrayLike<number>;
  /** Absent: all rows are of one series; shape `[T]`. */
  entity?: ArrayLike<string | number> | undefined;
}

/** Rows in the order of their series, and the time that passed before each. */
export interface TimeSteps {
  /** Series by series, in the order in which they come first, and each by time; shape `[T]`. */
  rows: Int32Array;
  /** The time since the step before, in the unit of the time; NaN for the first step of a series; shape `[T]`. */
  lengths: Float64Array;
}

/** The rows series by series, in the order in which they come first, and each by time; shape `[T]`. */
export function sortedRows({ time, entity }: TimedRows): Int32Array {
  const series = seriesNumbers(entity, time.length);
  return Int32Array.from(time, (_, row) => row).sort((a, b) => series[a] - series[b] || time[a] - time[b] || a - b);
}

/** Sorts rows by series and time, and measures the steps. */
export function timeSteps({ time, entity }: TimedRows): TimeSteps {
  const series = seriesNumbers(entity, time.length);
  const rows = sortedRows({ time, entity });
  const lengths = Float64Array.from(rows, (row, step) => {
    const isFirst = step === 0 || series[row] !== series[rows[step - 1]];
    return isFirst ? Number.NaN : time[row] - time[rows[step - 1]];
  });
  return { rows, lengths };
}

/**
 * The median length of steps, and the steps that are not about as long: more than 1.5 times, or less than half. Months,
 * years and days of a change to summer time differ by less.
 * @param lengths NaN where there is none; shape `[T]`
 */
export function unevenSteps(lengths: Float64Array): { usual: number; uneven: number[]; count: number } {
  const known = lengths.filter((length) => !Number.isNaN(length)).sort();
  const usual = known[Math.floor(known.length / 2)];
  const uneven = [...lengths.keys()].filter((step) => lengths[step] > 1.5 * usual || lengths[step] < 0.5 * usual);
  return { usual, uneven, count: known.length };
}

/**
 * Divides rows by time: the latest ones test, those before them validate, the others train. Rows of one time lie in one
 * split, so that a split may have fewer rows than are asked for. The rows of a split are ascending.
 * @param time in any unit, without NaN; shape `[N]`
 * @throws RangeError where the rows of one time alone are too many for a split, or none is left to train on
 */
export function splitByTime(
  subject: string,
  time: ArrayLike<number>,
  { validation, test }: { validation: number; test: number },
): Record<'train' | 'validation' | 'test', Int32Array> {
  const oldestFirst = Int32Array.from(time, (_, row) => row).sort((a, b) => time[a] - time[b] || a - b);
  const before = (split: string, end: number, count: number): number => {
    let first = Math.max(0, end - count);
    while (first > 0 && first < end && time[oldestFirst[first]] === time[oldestFirst[first - 1]]) first++;
    if (first < end || count === 0) return first;
    throw new RangeError(
      `Splitting ${subject}: the latest time of the ${split} split has more rows than the ${count} of the split. ` +
        'Make that split larger.',
    );
  };
  const testFrom = before('test', oldestFirst.length, test);
  const validationFrom = before('validation', testFrom, validation);
  if (validationFrom === 0) {
    throw new RangeError(
      `Splitting ${subject}: all ${time.length} rows are held out. Make validation or test smaller.`,
    );
  }
  return {
    train: oldestFirst.slice(0, validationFrom).sort(),
    validation: oldestFirst.slice(validationFrom, testFrom).sort(),
    test: oldestFirst.slice(testFrom).sort(),
  };
}

/** A number for each series, in the order in which they come first; shape `[T]`. */
function seriesNumbers(entity: TimedRows['entity'], count: number): Int32Array {
  if (entity === undefined) return new Int32Array(count);
  const numbers = new Map([...new Set(Array.from(entity))].map((own, number) => [own, number]));
  return Int32Array.from(Array.from(entity), (own) => numbers.get(own) ?? 0);
}
