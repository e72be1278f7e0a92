import type { LayersModel } from '../../tensorflow/tf.ts';

/** What tfjs's dropout layers read at every call. */
interface DropoutLayer {
  rate: number;
}

/** Rates of a model's dropout layers, which a factor moves together. */
export class DropoutRates {
  readonly #layers: readonly { layer: DropoutLayer; rate: number }[];

  /** @throws when the model has no dropout layer */
  constructor(model: LayersModel) {
    const layers = model.layers.filter((layer) => layer.getClassName() === 'Dropout');
    if (layers.length === 0) {
      throw new Error('The strategy is to diverge in dropout, but the model has no dropout layer. Leave dropout out.');
    }
    this.#layers = layers.map((layer) => {
      const dropout = layer as unknown as DropoutLayer;
      return { layer: dropout, rate: dropout.rate };
    });
  }

  /** Every rate becomes the model's own times the factor, but at most 0.95: a layer must let something through. */
  scale(factor: number): void {
    for (const { layer, rate } of this.#layers) layer.rate = Math.min(0.95, Math.max(0, rate * factor));
  }
}
