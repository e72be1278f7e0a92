import { withRoom } from '../../core/protocol/wire/points.ts';

/** The strongest smoothing offered. */
export const maximumSmoothing = 0.99;
/** Points after which earlier ones have no visible weight, even at the maximum: 0.99^1000 = 4e-5. */
export const longestMemory = 1000;

const steps = [0, 0.6, 0.9, 0.99];

/** The next stronger of a few smoothings; none after the strongest. */
export function nextSmoothing(smoothing: number): number {
  return steps.find((step) => step > smoothing) ?? 0;
}

/**
 * Exponential moving average without the bias towards its start at zero, as in TensorBoard:
 * `s_n = w s_(n-1) + (1 - w) y_n`, shown as `s_n / (1 - w^n)`, where n counts the finite values so far. A point depends
 * only on earlier ones, so drawn points never change while the run grows. Values that are not finite remain and do not
 * count.
 *
 * Source: Kingma and Ba, Adam, section 3 (the correction); TensorBoard, `line-chart` data set smoothing.
 */
export class DebiasedSmoothing {
  readonly weight: number;
  #smoothed: Float64Array = new Float64Array(0);
  #length = 0;
  #sum = 0;
  /** w^n, which the correction removes. */
  #bias = 1;

  constructor(weight: number) {
    if (!(weight >= 0 && weight < 1)) {
      throw new RangeError(`A smoothing weight is at least 0 and below 1, not ${weight}.`);
    }
    this.weight = weight;
  }

  /** Smooths the elements of `y` that are new, up to `length`. */
  extend(y: Float64Array, length: number): Float64Array {
    this.#smoothed = withRoom(this.#smoothed, length);
    const [weight, smoothed] = [this.weight, this.#smoothed];
    // Local variables are faster: this loop runs over millions of points when a reader moves the slider.
    let [sum, bias] = [this.#sum, this.#bias];
    for (let index = this.#length; index < length; index++) {
      const value = y[index];
      if (Number.isFinite(value)) {
        sum = weight * sum + (1 - weight) * value;
        bias *= weight;
        smoothed[index] = sum / (1 - bias);
      } else {
        smoothed[index] = value;
      }
    }
    [this.#sum, this.#bias, this.#length] = [sum, bias, Math.max(length, this.#length)];
    return smoothed;
  }
}
