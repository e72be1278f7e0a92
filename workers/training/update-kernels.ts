import { tf, type Tensor, type Variable } from '../tf.ts';

/** What Adam's update in one kernel takes; formulas in `adam.ts`. */
export interface AdamConstants {
  beta1: number;
  beta2: number;
  /** η √(1 − β₂ᵗ) / (1 − β₁ᵗ): both bias corrections in the rate, as algorithm 1's note has it. */
  rate: number;
  /** ε √(1 − β₂ᵗ), which keeps that exact. */
  epsilon: number;
  /** 1 − η λ where weights decay apart from the gradient, else 1. */
  keep: number;
  /** λ where it is added to the gradient, else 0. */
  penalty: number;
}

/** What SGD's update in one kernel takes; formulas in `sgd.ts`. */
export interface SgdConstants {
  rate: number;
  momentum: number;
  penalty: number;
  nesterov: boolean;
}

/** A variable, what it is moved along, and its optimizer's slots. */
export interface UpdateInputs {
  variable: Variable;
  gradient: Tensor;
  slots: readonly Variable[];
}

/** An optimizer's whole update of one variable, in place. */
export type UpdateKernel<Constants> = (inputs: UpdateInputs, constants: Constants) => void;

export interface UpdateKernels {
  adam: UpdateKernel<AdamConstants>;
  sgd: UpdateKernel<SgdConstants>;
}

const byBackend = new Map<string, UpdateKernels>();

/** Called by a backend that has such kernels, by its name in TensorFlow.js. */
export function registerUpdateKernels(backendName: string, kernels: UpdateKernels): void {
  byBackend.set(backendName, kernels);
}

/** The kernels of TensorFlow.js's current backend; without them an optimizer computes with ops. */
export function updateKernels(): UpdateKernels | null {
  return byBackend.get(tf.getBackend()) ?? null;
}
