import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';
import { slotIn, type SlotFiles, type SlotStorage, TensorSlots } from './slots/slot-storage.ts';
import type { UpdateInputs } from './update-kernels.ts';

/** Settings of one update. */
export interface UpdateSettings {
  learningRate: number;
  /**
   * SGD's momentum or Adam's β₁; absent: as configured. Ignored by an optimizer that was configured without momentum.
   */
  momentum?: number;
  /** Absent: as configured. */
  weightDecay?: number;
}

/**
 * An optimizer that receives its settings at each step, and whose state can be saved and restored exactly. The
 * optimizers of tfjs keep Adam's β^t in float32, and their state is private.
 */
export interface Optimizer {
  /**
   * Updates `variables[i]` with `gradients[i]`; null, where the loss does not depend on it, leaves it unchanged. The
   * caller disposes of the gradients. `settings` are common to all variables, or one per variable.
   */
  apply(gradients: readonly (Tensor | null)[], settings: UpdateSettings | readonly UpdateSettings[]): void;
  /** The tensors that the next step depends on, by name, in a fixed order. The optimizer owns them. */
  readonly slots: ReadonlyMap<string, Variable>;
  /** Slots that lie in files; absent where all are tensors. */
  readonly files?: SlotFiles | undefined;
  /** Number of updates of each variable; set on resume. */
  steps: number[];
}

/** How a kind of optimizer updates a variable. The caller keeps the slots. */
export interface Update {
  /** Makes update number `step`, counted from 1; `inputs.slots` are in the order of the configuration's. */
  update(inputs: UpdateInputs, step: number, settings: UpdateSettings): void;
  /**
   * Where an update depends on norms of the whole variable, its parts, for variables whose elements several ranks hold.
   */
  readonly byNorms?: NormedUpdate;
}

export interface UpdateRule extends Update {
  /** Names of a variable's slots: tensors of its shape, initially zero. */
  readonly slots: readonly string[];
}

/** An update θ ← θ − η·ratio(‖θ‖, ‖u‖)·u along a direction u. */
export interface NormedUpdate {
  /** Updates the slots. @returns u, or its row; the caller disposes of it */
  direction(inputs: UpdateInputs, step: number, settings: UpdateSettings): Tensor;
  ratio(variableNorm: number, directionNorm: number): number;
}

/** The arrays that an optimizer updates, where they are no variables between two updates. */
export interface UpdatedArrays {
  readonly shapes: readonly number[][];
  open(index: number): Variable;
  /** Keeps the values after update number `step`. */
  close(index: number, values: Variable, step: number): void;
  /** Frees what {@link open} made, where nothing changed. */
  discard(values: Variable): void;
}

function arraysOf(variables: readonly Variable[]): UpdatedArrays {
  const keep = (): void => undefined;
  return { shapes: variables.map(({ shape }) => shape), open: (i) => variables[i], close: keep, discard: keep };
}

/** Applies a rule to a list of variables, or of other arrays. */
export class RuleOptimizer implements Optimizer {
  readonly slots: ReadonlyMap<string, Variable>;
  steps: number[];
  private readonly rule: UpdateRule;
  private readonly arrays: UpdatedArrays;
  readonly storage: SlotStorage;

  constructor(
    rule: UpdateRule,
    updated: readonly Variable[] | UpdatedArrays,
    storage: SlotStorage = new TensorSlots(),
  ) {
    this.rule = rule;
    this.arrays = 'open' in updated ? updated : arraysOf(updated);
    const { shapes } = this.arrays;
    this.steps = shapes.map(() => 0);
    this.storage = storage;
    for (const name of rule.slots) shapes.forEach((shape, i) => storage.add(slotName(name, i), shape));
    this.slots = storage.tensors;
  }

  /** Names of a variable's slots; that of variable i is `<name>.<i>` in the storage. */
  get slotKinds(): readonly string[] {
    return this.rule.slots;
  }

  get files(): SlotFiles | undefined {
    return this.storage.files;
  }

  apply(gradients: readonly (Tensor | null)[], settings: UpdateSettings | readonly UpdateSettings[]): void {
    gradients.forEach((gradient, i) => {
      if (gradient === null) return;
      const variable = this.arrays.open(i);
      this.withSlots(i, { variable, gradient }, (inputs) =>
        this.rule.update(inputs, this.steps[i], settingsOf(settings, i)),
      );
      this.arrays.close(i, variable, this.steps[i]);
    });
  }

  /**
   * The first half of {@link apply} for a rule whose updates depend on norms, where variables are parts of tensors:
   * updates the slots.
   * @returns one direction per variable, null where it stays unchanged; the caller disposes of them
   */
  directions(
    gradients: readonly (Tensor | null)[],
    settings: UpdateSettings | readonly UpdateSettings[],
  ): (Tensor | null)[] {
    const { byNorms } = this.rule;
    if (byNorms === undefined) throw new Error('This optimizer updates each element by itself: call apply.');
    return gradients.map((gradient, i) => {
      if (gradient === null) return null;
      const variable = this.arrays.open(i);
      const direction = this.withSlots(i, { variable, gradient }, (inputs) =>
        byNorms.direction(inputs, this.steps[i], settingsOf(settings, i)),
      );
      this.arrays.discard(variable);
      return direction;
    });
  }

  /** Counts an update of an array and makes it, with its slots open. */
  private withSlots<Result>(
    i: number,
    of: Pick<UpdateInputs, 'variable' | 'gradient'>,
    update: (inputs: UpdateInputs) => Result,
  ): Result {
    this.steps[i] += 1;
    const names = this.rule.slots.map((name) => slotName(name, i));
    const slots = names.map((name) => this.storage.open(name));
    const result = update({ ...of, slots });
    names.forEach((name, slot) => this.storage.close(name, slots[slot], this.steps[i]));
    return result;
  }
}

/** The slots of an optimizer's i-th variable, in the rule's order, where they are float32 tensors. */
export function slotsOf({ slots }: Pick<Optimizer, 'slots'>, rule: UpdateRule, i: number): Variable[] {
  return rule.slots.map((name) => slotIn(slots, slotName(name, i)));
}

function slotName(name: string, i: number): string {
  return `${name}.${i}`;
}

export function settingsOf(settings: UpdateSettings | readonly UpdateSettings[], i: number): UpdateSettings {
  return 'learningRate' in settings ? settings : settings[i];
}

/** g + λθ */
export function withPenalty(gradient: Tensor, variable: Tensor, penalty: number): Tensor {
  return penalty === 0 ? gradient : tf.add(gradient, tf.mul(variable, penalty));
}
