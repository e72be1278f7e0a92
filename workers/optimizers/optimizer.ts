import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';
import type { UpdateInputs } from './update-kernels.ts';

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

/** How a kind of optimizer updates a variable; what it remembers of it is the caller's to keep. */
export interface UpdateRule {
  /** Names of the slots of a variable: tensors of its shape, zeros at first. */
  readonly slots: readonly string[];
  /** Makes update number `step`, counted from 1; `inputs.slots` are in the order of `slots`. */
  update(inputs: UpdateInputs, step: number, settings: UpdateSettings): void;
}

/** A rule at work on some variables. */
export class RuleOptimizer implements Optimizer {
  readonly slots: ReadonlyMap<string, Variable>;
  steps: number[];
  private readonly rule: UpdateRule;
  private readonly variables: readonly Variable[];

  constructor(rule: UpdateRule, variables: readonly Variable[]) {
    this.rule = rule;
    this.variables = variables;
    this.steps = variables.map(() => 0);
    this.slots = new Map(rule.slots.flatMap((name) => variables.map((of, i) => [slotName(name, i), zerosLike(of)])));
  }

  apply(gradients: readonly (Tensor | null)[], settings: UpdateSettings | readonly UpdateSettings[]): void {
    gradients.forEach((gradient, i) => {
      if (gradient === null) return;
      this.steps[i] += 1;
      const inputs = { variable: this.variables[i], gradient, slots: slotsOf(this, this.rule, i) };
      this.rule.update(inputs, this.steps[i], settingsOf(settings, i));
    });
  }
}

/** The slots that an optimizer keeps of its i-th variable, in the rule's order. */
export function slotsOf({ slots }: Pick<Optimizer, 'slots'>, rule: UpdateRule, i: number): Variable[] {
  return rule.slots.map((name) => {
    const slot = slots.get(slotName(name, i));
    if (slot === undefined) throw new Error(`The optimizer has no slot "${slotName(name, i)}".`);
    return slot;
  });
}

function slotName(name: string, i: number): string {
  return `${name}.${i}`;
}

function zerosLike(variable: Variable): Variable {
  return tf.tidy(() => tf.variable(tf.zeros(variable.shape), false));
}

function settingsOf(settings: UpdateSettings | readonly UpdateSettings[], i: number): UpdateSettings {
  return 'learningRate' in settings ? settings : settings[i];
}

/** g + λθ */
export function withPenalty(gradient: Tensor, variable: Tensor, penalty: number): Tensor {
  return penalty === 0 ? gradient : tf.add(gradient, tf.mul(variable, penalty));
}
