import { tf, type Tensor, type Variable } from '../tf.ts';

/** What one update is made with. */
export interface UpdateSettings {
  learningRate: number;
  /** SGD's momentum or Adam's β₁; absent: as configured. An optimizer without momentum stays without. */
  momentum?: number;
  /** Absent: as configured. */
  weightDecay?: number;
}

/**
 * Optimizers with settings given at each step and a state that can be saved and restored exactly. tfjs's own keep
 * Adam's β^t in float32 and their state out of reach.
 */
export interface Optimizer {
  /**
   * Moves `variables[i]` along `gradients[i]`, and leaves it alone where that is null: the loss did not depend on it. The
   * gradients stay the caller's. `settings` are those of all variables, or one for each.
   */
  apply(gradients: readonly (Tensor | null)[], settings: UpdateSettings | readonly UpdateSettings[]): void;
  /** The tensors that the next step depends on, by name, in a fixed order. They stay the optimizer's. */
  readonly slots: ReadonlyMap<string, Variable>;
  /** Updates of each variable so far; set on resume. */
  steps: number[];
}

export function settingsOf(settings: UpdateSettings | readonly UpdateSettings[], i: number): UpdateSettings {
  return 'learningRate' in settings ? settings : settings[i];
}

/** One slot of zeros for each variable. */
export function zeroSlots(name: string, variables: Variable[]): [string, Variable][] {
  return tf.tidy(() => variables.map((variable, i) => [`${name}.${i}`, tf.variable(tf.zeros(variable.shape), false)]));
}

/** g + λθ */
export function withPenalty(gradient: Tensor, variable: Variable, penalty: number): Tensor {
  return penalty === 0 ? gradient : tf.add(gradient, tf.mul(variable, penalty));
}
