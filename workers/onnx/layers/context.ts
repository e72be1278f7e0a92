import { LayerCall } from '../../exchange/layer-call.ts';
import { type Layer, UnsupportedLayerError, type Weight } from '../../exchange/model-calls.ts';
import type { LayerInput } from '../../exchange/walk-model.ts';
import type { GraphBuilder } from '../format/graph.ts';

/** A layer's call, to be written as nodes. */
export class LayerContext extends LayerCall {
  readonly graph: GraphBuilder;

  constructor(graph: GraphBuilder, layer: Layer, inputs: readonly LayerInput[]) {
    super(layer, inputs);
    this.graph = graph;
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
