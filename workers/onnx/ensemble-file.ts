import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import type { Calibration } from '../../core/postprocessing/schema.ts';
import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { Shape, WrittenFile } from '../exchange/model-calls.ts';
import { requireNoFurtherOutputs } from '../member/tasks/checks.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { GraphBuilder } from './format/graph.ts';
import { type GraphInputs, writeInputs } from './inputs.ts';
import { encodeModel } from './format/model-file.ts';
import { writeModel } from './model-graph.ts';
import { outputNames, writeOutputs } from './outputs.ts';

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
  #outputShape: Shape = [];

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
    requireNoFurtherOutputs(model, this.#ensemble.task);
    const shapes = JSON.stringify(model.inputs.map(({ shape }) => shape));
    if (this.#inputs === null) {
      this.#inputs = writeInputs(this.#graph, model, this.#preprocessing, outputNames);
      this.#shapes = shapes;
      this.#outputShape = model.outputs[0].shape;
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
    const { task, combination, name, set } = this.#ensemble;
    if (this.#inputs === null) throw new Error('An ensemble needs one member or more.');
    const target = this.#preprocessing?.target;
    const calibration = this.#calibration;
    const outputs = writeOutputs(this.#graph, this.#members, this.#outputShape, {
      task,
      combination,
      target,
      calibration,
    });
    requireRoom(this.#graph);
    const docString = `Ensemble of ${this.#members.length} members (${task}) of the run ${name}, checkpoints ${set}.`;
    const graph = this.#graph.finish('ensemble', this.#inputs.infos, outputs, docString);
    const content = encodeModel(graph, { version, docString, metadata: this.#metadata(this.#inputs.kind) });
    return [{ path: 'ensemble.onnx', content }];
  }

  #metadata(inputs: GraphInputs['kind']): Record<string, string> {
    const { task, run, name, set, combination, classNames, quantiles, members } = this.#ensemble;
    const target = this.#preprocessing?.target;
    const targets = target?.kind === 'values' ? target.columns : null;
    const places = members.map(({ rank, epoch, step }) => ({ rank, epoch, step }));
    const lists = { class_names: classNames, quantiles, targets, members: places };
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

function requireRoom(graph: GraphBuilder): void {
  const bytes = graph.initializers.reduce((sum, { rawData }) => sum + rawData.byteLength, 0);
  if (bytes < maximumBytes) return;
  throw new Error(
    `The members' weights take ${bytes} bytes, and an ONNX file has at most ${maximumBytes}. Export fewer members, or the checkpoints.`,
  );
}
