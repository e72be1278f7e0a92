/** Columns of a data set, with their names for messages. */
export interface Columns {
  /** Name of the data set. */
  name: string;
  /** `feature` or `target`. */
  kind: string;
  /** shape [N, C], row-major. */
  values: ArrayLike<number>;
  /** Columns (C). */
  count: number;
}

export interface Moments {
  /** shape [C]. */
  mean: number[];
  /** Standard deviation (divided by N); 1 for a constant column. shape [C]. */
  std: number[];
  /** shape [C]. */
  isConstant: boolean[];
}

/**
 * Mean and standard deviation of every column, in two passes with compensated sums. A single pass over squares would
 * lose digits for columns far from 0.
 *
 * A column is constant if all its values are equal, or if its variance is at most the rounding error of its
 * computation: `N eps var + (N mean eps)^2` (Chan, Golub and LeVeque, "Algorithms for computing the sample variance",
 * 1983; scikit-learn's `StandardScaler` uses the same bound).
 *
 * @throws Error that names data set, column and row of the first value that is NaN or infinite
 */
export function columnMoments(columns: Columns): Moments {
  const moments = Array.from({ length: columns.count }, (_, column) => momentsOf(columns, column));
  return {
    mean: moments.map(({ mean }) => mean),
    std: moments.map(({ variance, isConstant }) => (isConstant ? 1 : Math.sqrt(variance))),
    isConstant: moments.map(({ isConstant }) => isConstant),
  };
}

function momentsOf(columns: Columns, column: number, before = 0) {
  const { values, count } = columns;
  const rows = values.length / count;
  const total = new CompensatedSum();
  let areEqual = true;
  for (let row = 0; row < rows; row++) {
    const value = values[row * count + column];
    if (!Number.isFinite(value)) throw notFinite(columns, column, row, before);
    if (value !== values[column]) areEqual = false;
    total.add(value);
  }
  if (areEqual) return { mean: values[column], variance: 0, isConstant: true, areEqual };
  const mean = total.value / rows;
  const squares = new CompensatedSum();
  for (let row = 0; row < rows; row++) squares.add((values[row * count + column] - mean) ** 2);
  const variance = squares.value / rows;
  return { mean, variance, isConstant: variance <= roundingOf(rows, mean, variance), areEqual };
}

/**
 * The moments of columns whose rows come in parts, in one pass: of each part by {@link columnMoments}, then combined in
 * float64 (Chan, Golub and LeVeque, 1983, "Algorithms for computing the sample variance", eq. 2.1). A column is
 * constant if it is so in all parts, with the same value.
 */
export class MomentsInParts {
  #rows = 0;
  #mean: number[] = [];
  /** Sums of squared deviations from the mean. */
  #squares: number[] = [];
  #first: number[] = [];
  #areEqual: boolean[] = [];

  /** @throws Error that names data set, column and row of the first value that is NaN or infinite */
  add(part: Columns): void {
    const rows = part.values.length / part.count;
    const before = this.#rows;
    this.#rows += rows;
    for (let column = 0; column < part.count; column++) {
      const { mean, variance, areEqual } = momentsOf(part, column, before);
      const value = part.values[column];
      if (before === 0)
        [this.#mean[column], this.#squares[column], this.#first[column]] = [mean, variance * rows, value];
      else {
        const difference = mean - this.#mean[column];
        this.#mean[column] += (difference * rows) / this.#rows;
        this.#squares[column] += variance * rows + (difference ** 2 * before * rows) / this.#rows;
      }
      const wereEqual = before === 0 || (this.#areEqual[column] && value === this.#first[column]);
      this.#areEqual[column] = areEqual && wereEqual;
    }
  }

  get moments(): Moments {
    const variances = this.#squares.map((sum) => sum / this.#rows);
    const isConstant = variances.map(
      (variance, i) => this.#areEqual[i] || variance <= roundingOf(this.#rows, this.#mean[i], variance),
    );
    return {
      mean: this.#mean.map((mean, i) => (this.#areEqual[i] ? this.#first[i] : mean)),
      std: variances.map((variance, i) => (isConstant[i] ? 1 : Math.sqrt(variance))),
      isConstant,
    };
  }
}

/** The most that rounding alone gives as a variance. */
function roundingOf(rows: number, mean: number, variance: number): number {
  return rows * Number.EPSILON * variance + (rows * mean * Number.EPSILON) ** 2;
}

/**
 * Adds the rounding error of each addition separately, so that the sum's error does not grow with the number of terms
 * (Neumaier, 1974).
 */
class CompensatedSum {
  #sum = 0;
  #lost = 0;

  get value(): number {
    return this.#sum + this.#lost;
  }

  add(term: number): void {
    const next = this.#sum + term;
    this.#lost += Math.abs(this.#sum) >= Math.abs(term) ? this.#sum - next + term : term - next + this.#sum;
    this.#sum = next;
  }
}

function notFinite({ name, kind, values, count }: Columns, column: number, row: number, before = 0): Error {
  return new Error(
    `Data set "${name}": ${kind} column ${column} has ${values[row * count + column]} in row ${before + row} (both ` +
      'counted from 0). A mean and a deviation need finite values: correct the value, or leave the sample out.',
  );
}
