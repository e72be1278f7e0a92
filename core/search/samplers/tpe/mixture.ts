import type { Generator } from '../../../random/generator.ts';
import type { Assignment, SpaceParameter } from '../../space/space.ts';
import type { ParameterValue } from '../../space/parameter.ts';
import { ChoiceKernels } from './choice-kernels.ts';
import { logSumExp, type Kernels } from './kernels.ts';
import { NumericKernels } from './numeric-kernels.ts';

/** A mixture of products over parameters: one component around each observed assignment, and the prior's. */
export class Mixture {
  readonly #parameters: readonly SpaceParameter[];
  readonly #kernels: readonly Kernels<ParameterValue>[];
  readonly #weights: Float64Array;
  /** The logarithm of the weight, and what the kernels add without a value. */
  readonly #constants: Float64Array;
  readonly #logDensities: Float64Array;

  /** @param weights one for each assignment; the prior weighs 1 */
  constructor(parameters: readonly SpaceParameter[], observed: readonly Assignment[], weights: readonly number[]) {
    this.#parameters = parameters;
    this.#kernels = parameters.map((parameter) => kernelsOf(parameter, observed));
    const sum = weights.reduce((total, weight) => total + weight, 1);
    this.#weights = Float64Array.from([...weights, 1], (weight) => weight / sum);
    this.#constants = this.#weights.map(Math.log);
    for (const kernels of this.#kernels) kernels.addConstants(this.#constants);
    this.#logDensities = new Float64Array(this.#constants.length);
  }

  /** Draws a component, then each parameter's value from its kernel. */
  sample(generator: Generator): Assignment {
    let rest = generator.uniform();
    let kernel = 0;
    while (kernel < this.#weights.length - 1 && rest >= this.#weights[kernel]) rest -= this.#weights[kernel++];
    return Object.fromEntries(
      this.#parameters.map(({ path }, index) => [path, this.#kernels[index].sample(kernel, generator.uniform())]),
    );
  }

  /** The logarithm of the mixture's density at an assignment, up to a constant of the space. */
  logDensity(values: Assignment): number {
    this.#logDensities.set(this.#constants);
    for (const [index, { path }] of this.#parameters.entries()) {
      this.#kernels[index].addLogDensities(values[path], this.#logDensities);
    }
    return logSumExp(this.#logDensities);
  }
}

function kernelsOf({ path, domain }: SpaceParameter, observed: readonly Assignment[]): Kernels<ParameterValue> {
  const values = observed.map((assignment) => assignment[path]);
  if (domain.kind === 'choice') return new ChoiceKernels(domain, values);
  return new NumericKernels(domain, values.map(Number));
}
