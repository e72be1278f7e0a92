import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import type { Calibration } from '../../core/postprocessing/schema.ts';
import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import { encodeSafetensors } from '../../core/safetensors/safetensors.ts';
import { type Layer, UnsupportedLayerError, type Weight, type WrittenFile } from '../exchange/model-calls.ts';
import { outputCount } from '../../core/metrics/registry/metric.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { combinationLines, type Combining } from './combination.ts';
import { definitionsOf } from './code/library.ts';
import { type ModelTarget, walkModel } from '../exchange/walk-model.ts';
import { automaticName } from '../tensorflow/topology.ts';
import { type ConvertToPython, PythonContext } from './layers/context.ts';
import { PythonCode, tuple } from './code/python-code.ts';
import { activationLayers } from './layers/activations.ts';
import { imageLayers } from './layers/channels.ts';
import { convolutionLayers } from './layers/convolutions.ts';
import { mergeLayers, shapeLayers } from './layers/shapes.ts';
import { normalizationLayers } from './layers/normalization.ts';
import { recurrentLayers } from './layers/recurrent.ts';

/** The layers that can be written for PyTorch, by their classes in TensorFlow.js. */
const pytorchLayers: ReadonlyMap<string, ConvertToPython> = new Map(
  Object.entries({
    ...activationLayers,
    ...convolutionLayers,
    ...imageLayers,
    ...mergeLayers,
    ...normalizationLayers,
    ...recurrentLayers,
    ...shapeLayers,
  }),
);

/**
 * Writes an ensemble for PyTorch: `model.py`, which needs torch and safetensors alone, and a safetensors file for each
 * member. Members may share a model, whose weights change from call to call.
 * @throws UnsupportedLayerError for a layer that PyTorch lacks
 */
export class PytorchEnsembleWriter {
  readonly #ensemble: EnsembleDescription;
  readonly #preprocessing: Preprocessing | null;
  readonly #calibration: Calibration | null;
  readonly #used = new Set<string>();
  /** Distinct classes of members, and the class of each member. */
  readonly #bodies: string[] = [];
  readonly #kinds: number[] = [];
  readonly #files: WrittenFile[] = [];

  constructor(ensemble: EnsembleDescription, preprocessing: Preprocessing | null, calibration: Calibration | null) {
    this.#ensemble = ensemble;
    this.#preprocessing = preprocessing;
    this.#calibration = calibration;
  }

  /** Adds the next member, in the order of the description. Reads the model's weights before it returns. */
  add(model: LayersModel): void {
    const { body, weights } = modelCode(model, this.#used);
    if (!this.#bodies.includes(body)) this.#bodies.push(body);
    const position = this.#kinds.push(this.#bodies.indexOf(body)) - 1;
    const tensors = [...weights].map(([name, { shape, data }]) => ({
      name,
      dtype: 'F32' as const,
      shape,
      data: data as Float32Array<ArrayBuffer>,
    }));
    const { rank, epoch, step } = this.#ensemble.members[position];
    const metadata = { format: 'pt', rank: `${rank}`, epoch: `${epoch}`, step: `${step}` };
    this.#files.push({ path: `member-${position}.safetensors`, content: encodeSafetensors(tensors, metadata) });
  }

  /** @param version of Tutti */
  finish(version: string): WrittenFile[] {
    return [{ path: 'model.py', content: this.#code(version) }, ...this.#files];
  }

  #code(version: string): string {
    const heads = this.#heads();
    if (this.#calibration?.method === 'isotonic') this.#used.add('isotonic');
    const names = this.#bodies.map((_, i) => (this.#bodies.length === 1 ? 'Member' : `Member${i}`));
    return [
      this.#introduction(version),
      imports,
      definitionsOf(this.#used),
      ...this.#bodies.map((body, i) => `class ${names[i]}(nn.Module):\n${body}\n\n`),
      `MEMBERS = [${this.#kinds.map((kind) => names[kind]).join(', ')}]\n\n`,
      ...heads.map(combiningFunction),
      ensembleClass(heads),
      loading,
    ]
      .filter((part) => part !== '')
      .join('\n');
  }

  /** The run's task, then the further outputs, for which nothing is fitted. */
  #heads(): Head[] {
    const { task, combination, outputs } = this.#ensemble;
    const target = this.#preprocessing?.target;
    const uncalibrated = { combination: 'mean' as const, target: undefined, calibration: null };
    const all = [
      { name: null, combining: { task, combination, target, calibration: this.#calibration } },
      ...outputs.map((output) => ({ name: output.name, combining: { task: output.task, ...uncalibrated } })),
    ];
    let first = 0;
    return all.map((head, i) => {
      const start = first;
      first += outputCount(head.combining.task);
      return { ...head, call: i === 0 ? 'combine' : `combine_further_${i - 1}`, first: start };
    });
  }

  #introduction(version: string): string {
    const { task, name, run, set, members, classNames } = this.#ensemble;
    const texts = [
      `Ensemble of ${members.length} members (${task}), run ${name} (${run}), checkpoints ${set}. Written by ` +
        `Tutti ${version}.`,
      '',
      '    from model import load',
      '',
      '    ensemble = load()',
      '    print(ensemble(x)["mean"])',
      '',
      'Inputs are float32 [N, ...] as the models take them, channels last: after all that preprocessing.json says.',
      ...(classNames === null ? [] : [`Classes: ${JSON.stringify(classNames)}`]),
    ];
    // The run's name must not end the string.
    return `"""${texts.join('\n').replaceAll('\\', '/').replaceAll('"""', "'''")}\n"""\n`;
  }
}

const imports = `import math
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional as F

`;

/** Outputs of the models that belong to one task. */
interface Head {
  /** Null: those of the run's task. */
  name: string | null;
  /** The function that combines them. */
  call: string;
  combining: Combining;
  /** The position of the first one. */
  first: number;
}

function combiningFunction({ name, call, combining }: Head): string {
  return `def ${call}(outputs):
    """Combines members' outputs [N, M, ..., K]${name === null ? '' : ` of ${name}`}."""
${combinationLines(combining)
  .map((line) => `    ${line}`)
  .join('\n')}

`;
}

/** A further output's names begin with its own. */
function headLine({ name, call, combining, first }: Head): string {
  const results = `${call}(outputs[${first}:${first + outputCount(combining.task)}])`;
  if (name === null) return `results = ${results}`;
  return `results.update({f"${name}/{key}": value for key, value in ${results}.items()})`;
}

function ensembleClass(heads: readonly Head[]): string {
  const count = heads.reduce((sum, { combining }) => sum + outputCount(combining.task), 0);
  return `class Ensemble(nn.Module):
    """Returns a dictionary: mean [N, K], members [N, M, K], and uncertainties by the task."""

    def __init__(self):
        super().__init__()
        self.members = nn.ModuleList(kind() for kind in MEMBERS)

    def forward(self, *inputs):
        # One tensor [N, M, ..., K] for each output.
        outputs = [torch.stack(own, 1) for own in zip(*(member(*inputs)[:${count}] for member in self.members))]
${heads.map((head) => `        ${headLine(head)}`).join('\n')}
        return results

`;
}

const loading = `def load(folder=Path(__file__).parent):
    """Reads the members' weights, and prepares for predictions."""
    ensemble = Ensemble()
    for position, member in enumerate(ensemble.members):
        member.load_state_dict(load_file(Path(folder) / f"member-{position}.safetensors"))
    return ensemble.eval()
`;

/** A model's module. */
interface ModelCode {
  /** The class's code, without its first line. */
  body: string;
  /** Weights in PyTorch's layout, by their names in the module's `state_dict`. */
  weights: ReadonlyMap<string, Weight>;
}

/**
 * Writes a model as a module of PyTorch, whose `forward` takes the model's inputs in their order and returns its
 * outputs as a tuple.
 * @param used receives the names of the library's definitions that the code needs
 * @throws UnsupportedLayerError for a layer that PyTorch lacks
 */
function modelCode(model: LayersModel, used: Set<string>): ModelCode {
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
