import { tf, type LayersModel, type Tensor } from '../tensorflow/tf.ts';

type Layer = LayersModel['layers'][number];

/** A scalar that a layer adds to the loss: a weight's regularizer, or an argument of `addLoss` of a project's layer. */
export type Penalty = () => Tensor;

/**
 * The penalties of all layers of a model, nested ones included (recurrent cells, wrappers, nested models). A layer that the
 * model calls several times counts once, as in Keras. TensorFlow.js's `calculateLosses` omits cells and bidirectional layers.
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
