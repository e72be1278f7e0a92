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

export interface UpdateKernels {
  adam: UpdateKernel<AdamConstants>;
  sgd: UpdateKernel<SgdConstants>;
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
  return ({ variable, gradient, slots, row }, constants) =>
    tf.tidy(() => {
      const part = (tensor: Tensor): Tensor => (row === undefined ? tensor : rowsOf(tensor, row, 1));
      const updated = compute(part(variable), part(gradient), slots.map(part), constants);
      const put = (whole: Variable, changed: Tensor): void =>
        whole.assign(row === undefined ? changed : replaceRow(whole, row, changed));
      put(variable, updated.variable);
      slots.forEach((slot, i) => put(slot, updated.slots[i]));
    });
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
