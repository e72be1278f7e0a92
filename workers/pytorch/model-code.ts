import { type Layer, UnsupportedLayerError, type Weight } from '../exchange/model-calls.ts';
import { type ModelTarget, walkModel } from '../exchange/walk-model.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { automaticName } from '../tensorflow/topology.ts';
import { PythonContext } from './layers/context.ts';
import { pytorchLayers } from './layers/index.ts';
import { PythonCode, tuple } from './code/python-code.ts';

/** A model's module. */
export interface ModelCode {
  /** The class's code, without its first line. */
  body: string;
  /** Weights in PyTorch's layout, by their names in the module's `state_dict`. */
  weights: ReadonlyMap<string, Weight>;
}

/**
 * Writes a model as a module of PyTorch, whose `forward` takes the model's inputs in their order and returns its outputs as a tuple.
 * @param used receives the names of the library's definitions that the code needs
 * @throws UnsupportedLayerError for a layer that PyTorch lacks
 */
export function modelCode(model: LayersModel, used: Set<string>): ModelCode {
  const code = new PythonCode(used);
  const inputs = model.inputs.map((_, i) => (model.inputs.length === 1 ? 'x' : `input${i}`));
  const outputs = walkModel(model, inputs, targetOf(code));
  const lines = [
    'def __init__(self):',
    '    super().__init__()',
    ...code.modules.map((line) => `    ${line}`),
    '',
    `def forward(self, ${inputs.join(', ')}):`,
    ...code.lines.map((line) => `    ${line}`),
    `    return ${outputs.join(', ')}${outputs.length === 1 ? ',' : ''}`,
  ];
  return { body: lines.map((line) => (line === '' ? '' : `    ${line}`)).join('\n'), weights: code.weights };
}

function targetOf(code: PythonCode): ModelTarget {
  const names = new Map<Layer, string>();
  const counts = new Map<string, number>();
  return {
    format: 'PyTorch',
    within: (_layer, write) => write(),
    layer(layer, inputs) {
      const convert = pytorchLayers.get(layer.getClassName());
      if (convert === undefined) throw new UnsupportedLayerError(layer, 'PyTorch');
      const name = code.attribute(layer, readableName(layer, names, counts));
      const results = [convert(new PythonContext(code, layer, inputs, name))].flat();
      return results.map((result) => (/^[a-z]\w*$/.test(result) ? result : code.value(result)));
    },
    reshape: (x, shape) => code.value(`${x}.reshape${tuple(shape)}`),
    keptSteps: (x, maskValue) => code.value(`(${x} != ${maskValue}).any(-1)`),
    differentFromZero: (ids) => code.value(`${ids} != 0`),
    both: (mask, other) => (mask === other ? mask : code.value(`${mask} & ${other}`)),
  };
}

/** A name that the project gave, else the kind and its number in the model. */
function readableName(layer: Layer, names: Map<Layer, string>, counts: Map<string, number>): string {
  const known = names.get(layer);
  if (known !== undefined) return known;
  const type = automaticName(layer.name, layer.getClassName());
  const number = counts.get(type ?? '') ?? 0;
  if (type !== null) counts.set(type, number + 1);
  const name = type === null ? layer.name : `${type}_${number}`;
  names.set(layer, name);
  return name;
}
