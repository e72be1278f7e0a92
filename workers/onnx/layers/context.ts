import {
  configOf,
  type Layer,
  type LayerConfig,
  type Shape,
  UnsupportedLayerError,
  type Weight,
  weightsOf,
} from '../../exchange/model-calls.ts';
import type { GraphBuilder } from '../graph.ts';

/** A value of the graph that a layer gets. */
export interface LayerInput {
  name: string;
  shape: Shape;
  /** 1 for each step that counts, else 0: float32 `[B, T]`. */
  mask?: string;
}

/** A layer's call, to be written as nodes. */
export class LayerContext {
  readonly graph: GraphBuilder;
  readonly layer: Layer;
  readonly inputs: readonly LayerInput[];
  readonly outputShapes: readonly Shape[];
  readonly config: LayerConfig;
  readonly #weights: ReadonlyMap<string, Weight>;

  constructor(graph: GraphBuilder, layer: Layer, inputs: readonly LayerInput[], outputShapes: readonly Shape[]) {
    this.graph = graph;
    this.layer = layer;
    this.inputs = inputs;
    this.outputShapes = outputShapes;
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
