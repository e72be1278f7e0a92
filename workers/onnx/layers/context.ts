import {
  configOf,
  type Layer,
  type LayerConfig,
  UnsupportedLayerError,
  type Weight,
  weightsOf,
} from '../../exchange/model-calls.ts';
import type { LayerInput } from '../../exchange/walk-model.ts';
import type { GraphBuilder } from '../format/graph.ts';

/** A layer's call, to be written as nodes. */
export class LayerContext {
  readonly graph: GraphBuilder;
  readonly layer: Layer;
  readonly inputs: readonly LayerInput[];
  readonly config: LayerConfig;
  readonly #weights: ReadonlyMap<string, Weight>;

  constructor(graph: GraphBuilder, layer: Layer, inputs: readonly LayerInput[]) {
    this.graph = graph;
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

  weight(name: string): Weight {
    const found = this.#weights.get(name);
    if (found === undefined) throw new Error(`Layer "${this.layer.name}" has no weight "${name}".`);
    return found;
  }

  weightIfAny(name: string): Weight | null {
    return this.#weights.get(name) ?? null;
  }

  /** A weight as a constant of the graph. */
  stored(name: string, { shape, data }: Weight = this.weight(name)): string {
    return this.graph.weight(name, shape, data);
  }

  refuse(reason?: string): UnsupportedLayerError {
    return new UnsupportedLayerError(this.layer, 'ONNX', reason);
  }
}

/** Writes a layer's call as nodes. @returns the names of its outputs */
export type Convert = (context: LayerContext) => string | string[];
