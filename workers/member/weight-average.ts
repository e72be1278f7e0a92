import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';

/**
 * The exponential moving average of a member's trained weights θ: after the first update the weights themselves, after
 * each further one θ̄ ← θ̄ + (1 − d)·(θ − θ̄) with the decay d (Polyak and Juditsky, 1992, "Acceleration of stochastic
 * approximation by averaging"; PyTorch's `AveragedModel` with `get_ema_multi_avg_fn`). The model is evaluated and saved
 * with θ̄, and trains with θ. Weights that are not trained, such as running statistics, are not averaged.
 */
export class WeightAverage {
  readonly decay: number;
  /** θ̄ of each of the member's variables, in their order; 0 before the first update. */
  readonly averages: readonly Variable[];
  /** Updates that were averaged; set on resume. */
  updates = 0;
  readonly #names: readonly string[];
  readonly #variables: readonly Variable[];

  /** @param names of the variables */
  constructor(decay: number, names: readonly string[], variables: readonly Variable[]) {
    this.decay = decay;
    this.#names = names;
    this.#variables = variables;
    this.averages = variables.map((variable) => tf.tidy(() => tf.variable(tf.zeros(variable.shape), false)));
  }

  /** θ̄ by name, for states. */
  get tensors(): ReadonlyMap<string, Variable> {
    return new Map(this.#names.map((name, i) => [name, this.averages[i]]));
  }

  /** Call it after each update of the weights. */
  update(): void {
    this.average(this.#variables);
    this.updates += 1;
  }

  /** Averages some of the weights, where others are averaged elsewhere; `updates` stays as it is. */
  average(variables: readonly Variable[]): void {
    const rate = this.nextRate;
    for (const variable of variables) averageInto(this.averages[this.#variables.indexOf(variable)], variable, rate);
  }

  /** The share of the weights in the next average: the first one consists of them. */
  get nextRate(): number {
    return this.updates === 0 ? 1 : 1 - this.decay;
  }

  /** Puts θ̄ in place of θ, unless there was no update. @returns a function that restores θ */
  exchange(): () => void {
    if (this.updates === 0) return () => undefined;
    const trained = this.#variables.map((variable) => tf.keep(tf.clone(variable)));
    this.#variables.forEach((variable, i) => variable.assign(this.averages[i]));
    return () => {
      this.#variables.forEach((variable, i) => variable.assign(trained[i]));
      tf.dispose(trained);
    };
  }
}

/** θ̄ ← θ̄ + rate·(θ − θ̄). @param rate a number, or a tensor that broadcasts to θ */
export function averageInto(average: Variable, weight: Tensor, rate: number | Tensor): void {
  tf.tidy(() => {
    average.assign(rate === 1 ? tf.clone(weight) : tf.add(average, tf.mul(tf.sub(weight, average), rate)));
  });
}
