import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import type { Calibration } from '../../core/postprocessing/schema.ts';
import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { Shape, WrittenFile } from '../exchange/model-calls.ts';
import { outputCount } from '../../core/metrics/registry/task-kinds.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { GraphBuilder } from './format/graph.ts';
import { type GraphInputs, writeInputs } from './inputs.ts';
import type { ValueInfoProto } from './format/messages.ts';
import { encodeModel } from './format/model-file.ts';
import { writeModel } from './model-graph.ts';
import { type Combining, outputNames, writeOutputs } from './outputs.ts';

/** The largest file that protobuf readers take. */
const maximumBytes = 2 ** 31 - 1;

/**
 * Writes an ensemble as one ONNX file: preprocessing, the members' models, and their combination. Members may share a model, whose weights
 * change from call to call.
 * @throws UnsupportedLayerError for a layer that ONNX lacks; Error where members take different inputs, or the file would be too large
 */
export class OnnxEnsembleWriter {
  readonly #ensemble: EnsembleDescription;
  readonly #preprocessing: Preprocessing | null;
  readonly #calibration: Calibration | null;
  readonly #graph = new GraphBuilder();
  readonly #members: string[][] = [];
  #inputs: GraphInputs | null = null;
  #shapes = '';
  #outputShapes: Shape[] = [];

  /** @param calibration what was fitted on held-out predictions of these members */
  constructor(
    ensemble: EnsembleDescription,
    preprocessing: Preprocessing | null,
    calibration: Calibration | null = null,
  ) {
    this.#calibration = calibration;
    this.#ensemble = ensemble;
    this.#preprocessing = preprocessing;
  }

  /** Adds the next member, in the order of the description. Reads the model's weights before it returns. */
  add(model: LayersModel): void {
    const shapes = JSON.stringify(model.inputs.map(({ shape }) => shape));
    if (this.#inputs === null) {
      this.#inputs = writeInputs(this.#graph, model, this.#preprocessing, this.#reservedNames());
      this.#shapes = shapes;
      this.#outputShapes = model.outputs.map(({ shape }) => shape);
    }
    const position = this.#members.length;
    if (shapes !== this.#shapes) {
      throw new Error(
        `The model of member ${position} takes inputs of shapes ${shapes}, that of member 0 ${this.#shapes}: one file needs the same. ` +
          'Export the checkpoints instead.',
      );
    }
    const { values } = this.#inputs;
    this.#members.push(this.#graph.within(`member_${position}`, () => writeModel(this.#graph, model, values)));
  }

  /** @param version of Tutti @returns the file */
  finish(version: string): WrittenFile[] {
    const { task, name, set } = this.#ensemble;
    if (this.#inputs === null) throw new Error('An ensemble needs one member or more.');
    const outputs = this.#writeOutputs();
    requireRoom(this.#graph);
    const docString = `Ensemble of ${this.#members.length} members (${task}) of the run ${name}, checkpoints ${set}.`;
    const graph = this.#graph.finish('ensemble', this.#inputs.infos, outputs, docString);
    const content = encodeModel(graph, { version, docString, metadata: this.#metadata(this.#inputs.kind) });
    return [{ path: 'ensemble.onnx', content }];
  }

  /** The outputs of the run's task, then further ones of the models, whose names begin with their own. */
  #writeOutputs(): ValueInfoProto[] {
    const { task, combination, outputs: further } = this.#ensemble;
    const own: Combining = { task, combination, target: this.#preprocessing?.target, calibration: this.#calibration };
    const heads = [
      { prefix: '', combining: own },
      ...further.map((output) => ({ prefix: `${output.name}/`, combining: uncalibrated(output.task) })),
    ];
    let first = 0;
    return heads.flatMap(({ prefix, combining }) => {
      const start = first;
      first += outputCount(combining.task);
      const members = this.#members.map((outputs) => outputs.slice(start, first));
      return writeOutputs(this.#graph, members, this.#outputShapes[start], { ...combining, prefix });
    });
  }

  #reservedNames(): string[] {
    const prefixes = ['', ...this.#ensemble.outputs.map(({ name }) => `${name}/`)];
    return prefixes.flatMap((prefix) => outputNames.map((name) => `${prefix}${name}`));
  }

  #metadata(inputs: GraphInputs['kind']): Record<string, string> {
    const { task, run, name, set, combination, classNames, quantiles, outputs, members } = this.#ensemble;
    const target = this.#preprocessing?.target;
    const targets = target?.kind === 'values' ? target.columns : null;
    const places = members.map(({ rank, epoch, step }) => ({ rank, epoch, step }));
    const further = outputs.length === 0 ? null : outputs.map(describeOutput);
    const lists = { class_names: classNames, quantiles, targets, outputs: further, members: places };
    const given = Object.entries(lists).filter(([, value]) => value !== null);
    return {
      task,
      run,
      name,
      set,
      combination,
      inputs,
      calibration: this.#calibration?.method ?? 'none',
      ...Object.fromEntries(given.map(([key, value]) => [key, JSON.stringify(value)])),
    };
  }
}

/** Nothing is fitted for further outputs. */
function uncalibrated(task: Combining['task']): Combining {
  return { task, combination: 'mean', target: undefined, calibration: null };
}

function describeOutput({ name, task, classNames, quantiles }: EnsembleDescription['outputs'][number]) {
  return { name, task, class_names: classNames, quantiles };
}

function requireRoom(graph: GraphBuilder): void {
  const bytes = graph.initializers.reduce((sum, { rawData }) => sum + rawData.byteLength, 0);
  if (bytes < maximumBytes) return;
  throw new Error(
    `The members' weights take ${bytes} bytes, and an ONNX file has at most ${maximumBytes}. Export fewer members, or the checkpoints.`,
  );
}
