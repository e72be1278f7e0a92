import { UnsupportedLayerError } from '../exchange/model-calls.ts';
import { type ModelTarget, walkModel } from '../exchange/walk-model.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import type { GraphBuilder } from './format/graph.ts';
import { LayerContext } from './layers/context.ts';
import { onnxLayers } from './layers/index.ts';
import { keptSteps } from './layers/shapes.ts';

/**
 * Writes a model's forward pass in inference mode as nodes.
 * @param inputs names of the values of the model's inputs, in their order
 * @returns the names of its outputs
 * @throws UnsupportedLayerError for a layer that ONNX lacks
 */
export function writeModel(graph: GraphBuilder, model: LayersModel, inputs: readonly string[]): string[] {
  return walkModel(model, inputs, targetOf(graph));
}

function targetOf(graph: GraphBuilder): ModelTarget {
  return {
    format: 'ONNX',
    within: ({ name }, write) => graph.within(name, write),
    layer(layer, inputs) {
      const convert = onnxLayers.get(layer.getClassName());
      if (convert === undefined) throw new UnsupportedLayerError(layer, 'ONNX');
      return [convert(new LayerContext(graph, layer, inputs))].flat();
    },
    reshape: (x, shape) => graph.op('Reshape', [x, graph.integers(shape)]),
    keptSteps: (x, maskValue) => keptSteps(graph, x, maskValue),
    differentFromZero(ids) {
      const isZero = graph.op('Equal', [graph.op('Cast', [ids], { to: 1 }), graph.scalar(0)]);
      return graph.op('Cast', [graph.op('Not', [isZero])], { to: 1 });
    },
    both: (mask, other) => (mask === other ? mask : graph.op('Mul', [mask, other])),
  };
}
