import { type LayersModel, type Tensor, tf, type Variable } from '../tensorflow/tf.ts';

type Layer = LayersModel['layers'][number];

/** A scalar that a layer adds to the loss: a weight's regularizer, or an argument of `addLoss` of a project's layer. */
export type Penalty = () => Tensor;

/**
 * The penalties of all layers of a model, nested ones included (recurrent cells, wrappers, nested models). A layer that
 * the model calls several times counts once, as in Keras. TensorFlow.js's `calculateLosses` omits cells and
 * bidirectional layers.
 */
export function penaltiesOf(model: LayersModel): Penalty[] {
  return penaltiesIn(model);
}

/** Like {@link penaltiesOf}, of one layer and those in it. */
export function penaltiesIn(outermost: Layer): Penalty[] {
  const seen = new Set<Layer>();
  // A wrapper also lists its layer's penalties.
  const penalties = new Set<Penalty>();
  const visit = (layer: Layer): void => {
    if (seen.has(layer)) return;
    seen.add(layer);
    for (const penalty of layer.losses) penalties.add(penalty);
    for (const inner of layersIn(layer)) visit(inner);
  };
  visit(outermost);
  return [...penalties];
}

/** loss + Σ penalties, of a scalar loss or of losses `[M]` with penalties `[M]`. */
export function addPenalties(loss: Tensor, penalties: readonly Penalty[]): Tensor {
  return penalties.reduce((sum, penalty) => tf.add(sum, penalty()), loss);
}

/** The layers in a layer's properties, single or in lists. */
export function layersIn(layer: Layer): Layer[] {
  return Object.values(layer)
    .flat()
    .filter((value): value is Layer => value instanceof tf.layers.Layer);
}

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
