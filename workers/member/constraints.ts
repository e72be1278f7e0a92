import { tf, type LayersModel, type Tensor, type Variable } from '../tensorflow/tf.ts';

/** Restricts a layer's weight, e.g. each column's norm to 1. */
export interface Constraint {
  apply(weight: Tensor): Tensor;
}

/** The constraints of a model's trained weights. */
export function constraintsOf(model: LayersModel): Map<Variable, Constraint> {
  const constraints = new Map<Variable, Constraint>();
  for (const weight of model.trainableWeights) {
    // Private in tfjs-layers, which applies it only in `write`, and never in training.
    const { constraint } = weight as unknown as { constraint: Constraint | null };
    // The layers API hands its variables out typed as tensors.
    if (constraint !== null) constraints.set(weight.read() as Variable, constraint);
  }
  return constraints;
}

/** Applies each constraint to its weight. */
export function constrain(constraints: ReadonlyMap<Variable, Constraint>): void {
  for (const [variable, constraint] of constraints) {
    tf.tidy(() => {
      const constrained = constraint.apply(variable);
      // A variable that is assigned to itself loses its data.
      if (constrained !== variable) variable.assign(constrained);
    });
  }
}
