import { configOf, type Layer, type LayerConfig, type Weight, weightsOf } from './model-calls.ts';
import type { LayerInput } from './walk-model.ts';

/** A call of a layer, as all formats read it. */
export class LayerCall {
  readonly layer: Layer;
  readonly inputs: readonly LayerInput[];
  readonly config: LayerConfig;
  readonly #weights: ReadonlyMap<string, Weight>;

  constructor(layer: Layer, inputs: readonly LayerInput[]) {
    this.layer = layer;
    this.inputs = inputs;
    this.config = configOf(layer);
    this.#weights = weightsOf(layer);
  }

  /** The name of the first input. */
  get x(): string {
    return this.inputs[0].name;
  }

  /** Number of axes of the first input, with the batch. */
  get rank(): number {
    return this.inputs[0].shape.length;
  }

  /** @throws Error if the layer has no such weight */
  weight(name: string): Weight {
    const found = this.#weights.get(name);
    if (found === undefined) throw new Error(`Layer "${this.layer.name}" has no weight "${name}".`);
    return found;
  }

  weightIfAny(name: string): Weight | null {
    return this.#weights.get(name) ?? null;
  }
}
