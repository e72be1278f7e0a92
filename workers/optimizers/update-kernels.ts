import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';

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

/**
 * A function for which backends may have faster forms with the same result: without one, the usual form computes on
 * any backend.
 */
export class ByBackend<Form> {
  readonly #usual: Form;
  readonly #own = new Map<string, Form>();

  constructor(usual: Form) {
    this.#usual = usual;
  }

  /** The form of TensorFlow.js's current backend. */
  get current(): Form {
    return this.#own.get(tf.getBackend()) ?? this.#usual;
  }

  /** Registers the form of a backend, under its name in TensorFlow.js. */
  register(backendName: string, form: Form): void {
    this.#own.set(backendName, form);
  }
}

interface Updated {
  variable: Tensor;
  slots: Tensor[];
}

/**
 * An update made of ops, which works on any backend; one may have a kernel in its place. `compute` returns the new
 * variable and slots.
 */
export function updateByOps<Constants>(
  compute: (variable: Tensor, gradient: Tensor, slots: Tensor[], constants: Constants) => Updated,
): ByBackend<UpdateKernel<Constants>> {
  return new ByBackend((inputs, constants) =>
    tf.tidy(() => {
      const { slots, variable } = compute(...partsOf(inputs), constants);
      write(inputs.variable, variable, inputs.row);
      inputs.slots.forEach((slot, i) => write(slot, slots[i], inputs.row));
    }),
  );
}

/** A direction made of ops in the same way: `compute` returns it with the new slots. */
export function directionByOps<Constants>(
  compute: (
    variable: Tensor,
    gradient: Tensor,
    slots: Tensor[],
    constants: Constants,
  ) => { direction: Tensor; slots: Tensor[] },
): ByBackend<DirectionKernel<Constants>> {
  return new ByBackend((inputs, constants) =>
    tf.tidy(() => {
      const { slots, direction } = compute(...partsOf(inputs), constants);
      inputs.slots.forEach((slot, i) => write(slot, slots[i], inputs.row));
      return direction;
    }),
  );
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
