import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';

/** Arguments of Adam's update in one kernel; formulas in `adam.ts`. */
export interface AdamConstants {
  beta1: number;
  beta2: number;
  /** η √(1 − β₂ᵗ) / (1 − β₁ᵗ): both bias corrections in the rate (section 2 of the paper). */
  rate: number;
  /** ε √(1 − β₂ᵗ), which makes the result exact. */
  epsilon: number;
  /** 1 − η λ with decoupled weight decay, else 1. */
  keep: number;
  /** λ where it is added to the gradient, else 0. */
  penalty: number;
}

/** Arguments of SGD's update in one kernel; formulas in `sgd.ts`. */
export interface SgdConstants {
  rate: number;
  momentum: number;
  penalty: number;
  nesterov: boolean;
}

/**
 * Arguments of RMSprop's update in one kernel; formulas in `rmsprop.ts`. The slots are `square`, then those that it has
 * of `velocity` and `mean`.
 */
export interface RmspropConstants {
  rho: number;
  rate: number;
  epsilon: number;
  /** 0 without the slot `velocity`. */
  momentum: number;
  penalty: number;
  centered: boolean;
}

/** Arguments of Lion's update in one kernel; formulas in `lion.ts`. */
export interface LionConstants {
  beta1: number;
  beta2: number;
  rate: number;
  /** 1 − η λ */
  keep: number;
}

/** Arguments of the direction of LAMB's update; formulas in `lamb.ts`. */
export interface LambConstants {
  beta1: number;
  beta2: number;
  /** √(1 − β₂ᵗ) / (1 − β₁ᵗ): both bias corrections. */
  scale: number;
  /** ε √(1 − β₂ᵗ), which makes the result exact. */
  epsilon: number;
  /** λ */
  decay: number;
}

/** A variable, its gradient and its optimizer's slots. */
export interface UpdateInputs {
  variable: Variable;
  gradient: Tensor;
  slots: readonly Variable[];
  /** The only row along the first axis that is updated; absent: the whole variable. */
  row?: number;
}

/** An optimizer's whole update of one variable, in place. */
export type UpdateKernel<Constants> = (inputs: UpdateInputs, constants: Constants) => void;

/** An update of the slots alone. @returns the direction of the variable's update, which the caller disposes of */
export type DirectionKernel<Constants> = (inputs: UpdateInputs, constants: Constants) => Tensor;

/** Stochastic rounding of tensors to packed bfloat16 in a backend's memory, and back. */
export interface StorageKernels {
  pack(values: Tensor, key: number, words: Variable): void;
  unpack(words: Tensor, shape: number[]): Variable;
}

export interface UpdateKernels {
  adam: UpdateKernel<AdamConstants>;
  sgd: UpdateKernel<SgdConstants>;
  rmsprop: UpdateKernel<RmspropConstants>;
  lion: UpdateKernel<LionConstants>;
  lamb: DirectionKernel<LambConstants>;
  storage: StorageKernels;
}

const byBackend = new Map<string, UpdateKernels>();

/** Registers a backend's kernels, under its name in TensorFlow.js. */
export function registerUpdateKernels(backendName: string, kernels: UpdateKernels): void {
  byBackend.set(backendName, kernels);
}

/** The kernels of TensorFlow.js's current backend; null where it has none and optimizers use ops. */
export function updateKernels(): UpdateKernels | null {
  return byBackend.get(tf.getBackend()) ?? null;
}

interface Updated {
  variable: Tensor;
  slots: Tensor[];
}

/** An update made of ops: `compute` returns the new variable and slots. */
export function byOps<Constants>(
  compute: (variable: Tensor, gradient: Tensor, slots: Tensor[], constants: Constants) => Updated,
): UpdateKernel<Constants> {
  return (inputs, constants) =>
    tf.tidy(() => {
      const { slots, variable } = compute(...partsOf(inputs), constants);
      write(inputs.variable, variable, inputs.row);
      inputs.slots.forEach((slot, i) => write(slot, slots[i], inputs.row));
    });
}

/** A direction made of ops: `compute` returns it with the new slots. */
export function directionByOps<Constants>(
  compute: (
    variable: Tensor,
    gradient: Tensor,
    slots: Tensor[],
    constants: Constants,
  ) => { direction: Tensor; slots: Tensor[] },
): DirectionKernel<Constants> {
  return (inputs, constants) =>
    tf.tidy(() => {
      const { slots, direction } = compute(...partsOf(inputs), constants);
      inputs.slots.forEach((slot, i) => write(slot, slots[i], inputs.row));
      return direction;
    });
}

/** The updated part of variable, gradient and slots. */
function partsOf({ variable, gradient, slots, row }: UpdateInputs): [Tensor, Tensor, Tensor[]] {
  return [rowOf(variable, row), rowOf(gradient, row), slots.map((slot) => rowOf(slot, row))];
}

/** A row along the first axis, `[1, ...]`; the whole tensor where `row` is absent. */
export function rowOf(tensor: Tensor, row: number | undefined): Tensor {
  return row === undefined ? tensor : rowsOf(tensor, row, 1);
}

/** Assigns a changed row, or a whole tensor, to a variable. Call it inside `tidy`. */
export function write(whole: Variable, changed: Tensor, row: number | undefined): void {
  whole.assign(row === undefined ? changed : replaceRow(whole, row, changed));
}

function replaceRow(whole: Tensor, row: number, changed: Tensor): Tensor {
  const after = whole.shape[0] - row - 1;
  const parts = [rowsOf(whole, 0, row), changed, rowsOf(whole, row + 1, after)];
  return tf.concat(
    parts.filter(({ size }) => size > 0),
    0,
  );
}

function rowsOf(tensor: Tensor, first: number, count: number): Tensor {
  return tf.slice(tensor, [first, ...tensor.shape.slice(1).map(() => 0)], [count, ...tensor.shape.slice(1)]);
}
