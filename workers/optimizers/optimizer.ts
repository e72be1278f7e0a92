import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';
import type { UpdateInputs } from './update-kernels.ts';

/** Settings of one update. */
export interface UpdateSettings {
  learningRate: number;
  /** SGD's momentum or Adam's β₁; absent: as configured. Ignored by an optimizer that was configured without momentum. */
  momentum?: number;
  /** Absent: as configured. */
  weightDecay?: number;
}

/**
 * An optimizer that receives its settings at each step, and whose state can be saved and restored exactly. The optimizers of
 * tfjs keep Adam's β^t in float32, and their state is private.
 */
export interface Optimizer {
  /**
   * Updates `variables[i]` with `gradients[i]`; null, where the loss does not depend on it, leaves it unchanged. The caller
   * disposes of the gradients. `settings` are common to all variables, or one per variable.
   */
  apply(gradients: readonly (Tensor | null)[], settings: UpdateSettings | readonly UpdateSettings[]): void;
  /** The tensors that the next step depends on, by name, in a fixed order. The optimizer owns them. */
  readonly slots: ReadonlyMap<string, Variable>;
  /** Number of updates of each variable; set on resume. */
  steps: number[];
}

/** How a kind of optimizer updates a variable. The caller keeps the slots. */
export interface UpdateRule {
  /** Names of a variable's slots: tensors of its shape, initially zero. */
  readonly slots: readonly string[];
  /** Makes update number `step`, counted from 1; `inputs.slots` are in the order of `slots`. */
  update(inputs: UpdateInputs, step: number, settings: UpdateSettings): void;
  /** Where an update depends on norms of the whole variable, its parts, for variables whose elements several ranks hold. */
  readonly byNorms?: NormedUpdate;
}

/** An update θ ← θ − η·ratio(‖θ‖, ‖u‖)·u along a direction u. */
export interface NormedUpdate {
  /** Updates the slots. @returns u, or its row; the caller disposes of it */
  direction(inputs: UpdateInputs, step: number, settings: UpdateSettings): Tensor;
  ratio(variableNorm: number, directionNorm: number): number;
}

/** Applies a rule to a list of variables. */
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
      this.rule.update(this.beginUpdate(i, gradient), this.steps[i], settingsOf(settings, i));
    });
  }

  /**
   * The first half of {@link apply} for a rule whose updates depend on norms, where variables are parts of tensors: updates the slots.
   * @returns one direction per variable, null where it stays unchanged; the caller disposes of them
   */
  directions(
    gradients: readonly (Tensor | null)[],
    settings: UpdateSettings | readonly UpdateSettings[],
  ): (Tensor | null)[] {
    const { byNorms } = this.rule;
    if (byNorms === undefined) throw new Error('This optimizer updates each element by itself: call apply.');
    return gradients.map((gradient, i) =>
      gradient === null
        ? null
        : byNorms.direction(this.beginUpdate(i, gradient), this.steps[i], settingsOf(settings, i)),
    );
  }

  private beginUpdate(i: number, gradient: Tensor): UpdateInputs {
    this.steps[i] += 1;
    return { variable: this.variables[i], gradient, slots: slotsOf(this, this.rule, i) };
  }
}

/** An optimizer's slots of its i-th variable, in the rule's order. */
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

export function settingsOf(settings: UpdateSettings | readonly UpdateSettings[], i: number): UpdateSettings {
  return 'learningRate' in settings ? settings : settings[i];
}

/** g + λθ */
export function withPenalty(gradient: Tensor, variable: Tensor, penalty: number): Tensor {
  return penalty === 0 ? gradient : tf.add(gradient, tf.mul(variable, penalty));
}
