import { graphOf, type Layer } from '../tensorflow/model-graph.ts';
import type { LayersModel } from '../tensorflow/tf.ts';

/**
 * @throws with the first layer that differs when the members' models cannot be computed as one: they have different
 * architectures
 */
export function requireStackable(models: readonly LayersModel[], ranks: readonly number[]): void {
  const [first, ...others] = models;
  others.forEach((other, i) => {
    const difference = differenceOf(first, other);
    if (difference === null) return;
    throw new Error(
      `The model of rank ${ranks[i + 1]} ${difference}, compared with rank ${ranks[0]}'s: stacked members must ` +
        'have the same layers. Build the same model for every rank, or use --members-per-device 1.',
    );
  });
}

/**
 * Where a model differs from another one that it is to be stacked with, as the end of a sentence; null if it does not.
 */
export function differenceOf(first: LayersModel, other: LayersModel): string | null {
  const differs = first.layers.findIndex((layer, at) => shapeOf(layer) !== shapeOf(other.layers[at]));
  if (differs >= 0) return `differs in layer ${first.layers[differs].name}`;
  const sameGraph = JSON.stringify(graphOf(first)) === JSON.stringify(graphOf(other));
  return sameGraph && first.layers.length === other.layers.length ? null : 'connects its layers differently';
}

/** The properties of a layer that must agree: kind, options and weights, but not name and initializers. */
function shapeOf(layer: Layer | undefined): string {
  if (layer === undefined) return '';
  const options = JSON.stringify(layer.getConfig(), (key, value: unknown) =>
    key === 'name' || key === 'seed' || key.endsWith('Initializer') ? undefined : value,
  );
  return `${layer.getClassName()} ${options} ${layer.weights.map(({ shape }) => shape.join()).join(';')}`;
}
