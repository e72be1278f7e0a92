import type { NamedTensor } from '../../core/safetensors/safetensors.ts';
import type { Generator } from '../../core/random/generator.ts';

/** Moments of a trajectory of weights, by the tensors' names. */
export interface TrajectoryMoments {
  tensors: ReadonlyMap<string, TensorMoments>;
  /** Number of columns K of the deviations. */
  columns: number;
}

/** Moments of one tensor, row-major. */
export interface TensorMoments {
  shape: readonly number[];
  mean: Float64Array;
  /** Over the trajectory, of the population. */
  variance: Float64Array;
  /** Deviations of the newest K weights from the running mean at their time, the oldest first. */
  deviations: Float32Array[];
}

/**
 * The moments of SWAG, from the weights of one model over time: the mean θ̄ = 1/T Σ θ_t, the diagonal variances 1/T Σ
 * θ_t² − θ̄², and the deviations θ_t − θ̄_t of the newest K weights from the mean of the weights so far.
 *
 * Source: Maddox, Garipov, Izmailov, Vetrov and Wilson, "A simple baseline for Bayesian uncertainty in deep learning",
 * NeurIPS 2019, algorithm 1 (arXiv 1902.02476). The variances are updated as Welford does, because the difference of
 * two means of squares loses their digits.
 */
export class Trajectory {
  readonly #tensors = new Map<string, TensorMoments>();
  readonly #columns: number;
  #count = 0;

  /** @param columns most deviations to keep, K */
  constructor(columns: number) {
    this.#columns = columns;
  }

  /** Adds the weights of a later time. @param weights float32, of the same architecture */
  add(weights: readonly NamedTensor[]): void {
    this.#count += 1;
    for (const { name, shape, data } of weights) {
      const values = data as Float32Array;
      let moments = this.#tensors.get(name);
      if (moments === undefined) {
        const zeros = () => new Float64Array(values.length);
        this.#tensors.set(name, (moments = { shape, mean: zeros(), variance: zeros(), deviations: [] }));
      }
      update(moments, values, this.#count);
      if (moments.deviations.length > this.#columns) moments.deviations.shift();
    }
  }

  /**
   * @throws RangeError for less than two weights, or less than two columns: the sample's covariance divides by K − 1
   */
  moments(): TrajectoryMoments {
    const columns = Math.min(this.#count, this.#columns);
    if (columns < 2) {
      throw new RangeError(
        `SWAG needs the weights of 2 epochs or more, and 2 or more deviations, but has ${this.#count} and ${columns}.`,
      );
    }
    return { tensors: this.#tensors, columns };
  }
}

function update({ mean, variance, deviations }: TensorMoments, values: Float32Array, count: number): void {
  const deviation = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const before = values[i] - mean[i];
    mean[i] += before / count;
    const after = values[i] - mean[i];
    variance[i] += (before * after - variance[i]) / count;
    deviation[i] = after;
  }
  deviations.push(deviation);
}

/** Random numbers of a sample, standard normal. */
export interface SampleNoise {
  /** One for each weight: the diagonal part. */
  next: () => number;
  /** One for each column, the same for all weights: the low-rank part, shape `[K]`. */
  ofColumns: readonly number[];
}

/**
 * The noise of a sample from a generator: first that of the columns, then, in the order of the tensors, that of the
 * weights.
 */
export function noiseOf(generator: Generator, columns: number): SampleNoise {
  const ofColumns = Array.from({ length: columns }, () => generator.normal());
  return { next: () => generator.normal(), ofColumns };
}

/**
 * Weights drawn from the Gaussian with SWAG's moments, θ̄ + 1/√2 Σ^(1/2) z₁ + 1/√(2 (K − 1)) D z₂ with the diagonal
 * variances Σ and the deviations D as columns.
 *
 * @param isSampled whether a tensor is drawn; the others are their means
 */
export function sampleWeights(
  { tensors, columns }: TrajectoryMoments,
  { next, ofColumns }: SampleNoise,
  isSampled: (name: string) => boolean = () => true,
): NamedTensor[] {
  const scale = 1 / Math.sqrt(2 * (columns - 1));
  return [...tensors].map(([name, { shape, mean, variance, deviations }]) => {
    const draw = (value: number, i: number): number => {
      const low = deviations.reduce((sum, column, k) => sum + column[i] * ofColumns[k], 0);
      return value + Math.sqrt(variance[i] / 2) * next() + scale * low;
    };
    const data = Float32Array.from(isSampled(name) ? mean.map(draw) : mean);
    return { name, dtype: 'F32', shape: [...shape], data };
  });
}
