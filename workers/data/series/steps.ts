import { timeSteps, unevenSteps } from '../../../core/preprocessing/time-steps.ts';

/** What orders the steps of a series. */
export interface StepOrder {
  /**
   * When each step was, in any unit; shape `[T]`. Steps are sorted by it. Without it they are taken in the order in
   * which they come.
   */
  time?: ArrayLike<number>;
  /**
   * Which of several series each step belongs to, such as a station; shape `[T]`. No window crosses from one to the
   * next. Needs `time`.
   */
  entity?: ArrayLike<string | number>;
  /**
   * What happens where a step is longer than usual: `cut` lets no window cross it; `ignore` takes the steps as they
   * are, such as trading days. Without it, uneven steps are refused.
   */
  gaps?: 'cut' | 'ignore';
  /** The row of the table that each step was, which messages name; shape `[T]`. Without it, row t is step t. */
  tableRows?: ArrayLike<number>;
}

/** The steps of a series in their order: entity by entity, each by time. */
export interface OrderedSteps {
  /** The row of each step; shape `[T]`. */
  rows: Int32Array;
  /** Which of all times each step has, counted from 0; shape `[T]`. */
  positions: Int32Array;
  /** The number of different times, P. */
  times: number;
  /** Runs of steps that windows stay in: the first step, and the one after the last. */
  parts: [first: number, end: number][];
}

/**
 * Orders T steps.
 * @throws RangeError that names the rows where a time is missing, comes twice in one series, or follows the one before
 * at another distance
 */
export function orderSteps(name: string, count: number, { time, entity, gaps, tableRows }: StepOrder): OrderedSteps {
  if (time === undefined) {
    for (const [option, value] of Object.entries({ entity, gaps })) {
      if (value !== undefined) throw new RangeError(`Series "${name}": ${option} needs time.`);
    }
    const inOrder = Int32Array.from({ length: count }, (_, step) => step);
    return { rows: inOrder, positions: inOrder, times: count, parts: [[0, count]] };
  }
  for (const [option, values] of Object.entries({ time, ...(entity && { entity }) })) {
    if (values.length === count) continue;
    throw new RangeError(`Series "${name}": ${option} has ${values.length} values for ${count} steps. Give one each.`);
  }
  const missing = Array.from(time).findIndex((value) => !Number.isFinite(value));
  if (missing >= 0)
    throw new RangeError(`Series "${name}": row ${rowOf(missing, tableRows)} has no time. Complete or remove the row.`);
  const { rows, lengths } = timeSteps({ time, entity });
  requireDistinct(name, rows, lengths, { time, entity, tableRows });
  const cuts = gaps === 'ignore' ? new Set<number>() : findGaps(name, rows, lengths, { time, gaps, tableRows });
  const firsts = [...rows.keys()].filter((step) => Number.isNaN(lengths[step]) || cuts.has(step));
  const distinct = [...new Set(Array.from(time))].sort((a, b) => a - b);
  const positionOf = new Map(distinct.map((value, position) => [value, position]));
  return {
    rows,
    positions: rows.map((row) => positionOf.get(time[row]) ?? 0),
    times: distinct.length,
    parts: firsts.map((first, i) => [first, firsts[i + 1] ?? count]),
  };
}

function requireDistinct(
  name: string,
  rows: Int32Array,
  lengths: Float64Array,
  { time, entity, tableRows }: Required<Pick<StepOrder, 'time'>> & StepOrder,
): void {
  const twice = lengths.indexOf(0);
  if (twice < 0) return;
  const [first, second] = [rows[twice - 1], rows[twice]];
  const remedy =
    entity === undefined
      ? 'If the rows are of several series, name what tells them apart (entity); else remove one.'
      : `Both are of ${entity[second]}: remove one.`;
  throw new RangeError(
    `Series "${name}": the rows ${rowOf(first, tableRows)} and ${rowOf(second, tableRows)} have the same time ` +
      `(${time[second]}). ${remedy}`,
  );
}

/** The steps after a gap. @throws RangeError where steps are uneven and nothing says what to do about it */
function findGaps(
  name: string,
  rows: Int32Array,
  lengths: Float64Array,
  { time, gaps, tableRows }: Required<Pick<StepOrder, 'time'>> & Pick<StepOrder, 'gaps' | 'tableRows'>,
): Set<number> {
  const { usual, uneven, count } = unevenSteps(lengths);
  const long = uneven.filter((step) => lengths[step] > usual);
  if (uneven.length === 0 || (gaps === 'cut' && long.length === uneven.length)) return new Set(long);
  const [step] = gaps === 'cut' ? uneven.filter((own) => lengths[own] < usual) : uneven;
  const [from, to] = [rows[step - 1], rows[step]];
  throw new RangeError(
    `Series "${name}": ${uneven.length} of ${count} steps are not about as long as the usual one ` +
      `(${rounded(usual)}), first that of ${rounded(lengths[step])} from row ${rowOf(from, tableRows)} ` +
      `(${time[from]}) to row ${rowOf(to, tableRows)} (${time[to]}). Fill the series, or set gaps: ` +
      (gaps === 'cut' ? '' : "'cut' so that no window crosses a gap, or ") +
      "'ignore' to take the steps as they are, such as trading days.",
  );
}

/** The row of the table that a step was, counted from 1. */
function rowOf(step: number, tableRows: StepOrder['tableRows']): number {
  return (tableRows?.[step] ?? step) + 1;
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(6)));
}
