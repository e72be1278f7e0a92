import type { ChoiceDomain } from '../../space/domain.ts';
import type { ParameterValue } from '../../space/parameter.ts';
import type { Kernels } from './kernels.ts';

/**
 * One distribution over the choices around each observed choice, and an even one for the prior. A kernel gives its own choice the weight
 * 1 + 1/K and others 1/K, for K kernels, divided by their sum.
 */
export class ChoiceKernels implements Kernels<ParameterValue> {
  readonly #choices: readonly ParameterValue[];
  /** The choice of each kernel; -1 for the prior's. */
  readonly #observed: Int32Array;
  readonly #own: number;
  readonly #other: number;

  constructor({ choices }: ChoiceDomain, values: readonly ParameterValue[]) {
    this.#choices = choices;
    this.#observed = Int32Array.from([...values.map((value) => choices.indexOf(value)), -1]);
    const even = 1 / this.#observed.length;
    const sum = 1 + choices.length * even;
    [this.#own, this.#other] = [(1 + even) / sum, even / sum];
  }

  sample(kernel: number, uniform: number): ParameterValue {
    const observed = this.#observed[kernel];
    const last = this.#choices.length - 1;
    if (observed === -1) return this.#choices[Math.min(Math.floor(uniform * this.#choices.length), last)];
    let rest = uniform;
    for (let choice = 0; choice < last; choice++) {
      rest -= choice === observed ? this.#own : this.#other;
      if (rest < 0) return this.#choices[choice];
    }
    return this.#choices[last];
  }

  addConstants(): void {
    // The weights are normalized.
  }

  addLogDensities(value: ParameterValue, logDensities: Float64Array): void {
    const choice = this.#choices.indexOf(value);
    const [own, other] = [Math.log(this.#own), Math.log(this.#other)];
    const prior = logDensities.length - 1;
    for (let kernel = 0; kernel < prior; kernel++)
      logDensities[kernel] += this.#observed[kernel] === choice ? own : other;
    logDensities[prior] -= Math.log(this.#choices.length);
  }
}
