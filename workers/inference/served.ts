import {
  allTensors,
  type InputInfo,
  outputTensors,
  type Tensor,
  type TensorInfo,
} from '../../core/ensemble/tensors.ts';
import type { ColumnWarning, ServedEnsemble, ServePrediction, ServeRequest } from '../../core/ensemble/serving.ts';
import { featurePosition, type Preprocessing } from '../../core/preprocessing/schema.ts';
import { messageOf } from '../../core/text/errors.ts';
import { columnTypes, imputedColumns } from '../data/preprocessing/fitted.ts';
import type { Cell } from '../data/tables/cells.ts';
import type { Column } from '../data/tables/columns.ts';
import type { Table } from '../data/tables/table.ts';
import type { Field } from '../data/fields.ts';
import type { Ensemble } from './ensemble.ts';
import { type EnsembleInput, type Row, tableOfRows } from './inputs.ts';
import type { TableInputs } from './read-inputs.ts';
import { TableLosses } from './table-losses.ts';

/** An opened ensemble that takes and gives tensors. */
export class TensorEnsemble {
  readonly #ensemble: Ensemble;
  readonly #tableInputs: TableInputs | null;
  readonly inputs: readonly InputInfo[];

  /** @param tableInputs the project's own way from columns to inputs, where the run kept none */
  constructor(ensemble: Ensemble, tableInputs: TableInputs | null = null) {
    this.#ensemble = ensemble;
    this.#tableInputs = tableInputs;
    this.inputs = inputsOf(ensemble);
  }

  /** Predicts the samples of one or more requests. @throws Error that says what does not fit */
  async predict({ tensors, outputs, parts }: ServeRequest): Promise<ServePrediction> {
    const ensemble = this.#ensemble;
    const input = await this.#inputFrom(tensors);
    const found = ensemble.combine(await ensemble.outputs(input));
    const predicted = outputTensors(found, ensemble.description, outputs);
    const [given, made] = [tensors[0].shape[0], predicted[0].shape[0]];
    if (given === made) return { outputs: predicted, warnings: this.#warningsOf(input, parts) };
    throw new Error(`The project's inputs() made ${made} samples of ${given} rows; it must make one of each row.`);
  }

  /** Those of each request. */
  #warningsOf(input: EnsembleInput, parts: readonly number[]): ColumnWarning[][] {
    let first = 0;
    return parts.map((samples) => {
      const losses = new TableLosses(this.#ensemble.preprocessing);
      const end = first + samples;
      if ('table' in input) losses.add(input.table, { first, end });
      first = end;
      return losses.warnings();
    });
  }

  /** Tensors that are none of the inputs are columns for the project's own `inputs`. */
  async #inputFrom(tensors: readonly Tensor[]): Promise<EnsembleInput> {
    const isOwn = tensors.some(({ name }) => this.inputs.some((info) => info.name === name));
    return isOwn || this.#tableInputs === null
      ? inputFrom(this.inputs, tensors, this.#ensemble.preprocessing)
      : await this.#tableInputs(tableFrom(tensors));
  }

  /**
   * Predicts one sample of zeros, so that the first request meets compiled kernels, and tells what outputs there are.
   */
  async describe(warnings: readonly string[]): Promise<ServedEnsemble> {
    const { name, set, members } = this.#ensemble.description;
    const found = await this.#tryZeros();
    return {
      name,
      set,
      members: members.length,
      inputs: [...this.inputs],
      takesColumns: this.#tableInputs !== null,
      outputs: found.outputs,
      cautions: this.#ensemble.cautions,
      warnings: [...warnings, ...found.warnings],
    };
  }

  async #tryZeros(): Promise<{ outputs: TensorInfo[]; warnings: string[] }> {
    const isFree = this.inputs.some(({ shape }) => shape.slice(1).includes(-1));
    try {
      const tensors = this.inputs.map((input) => zerosFor(input, this.#ensemble));
      const found = await this.#ensemble.predict(inputFrom(this.inputs, tensors, this.#ensemble.preprocessing));
      const all = allTensors(found, this.#ensemble.description);
      return { outputs: all.map((tensor) => infoOf(tensor, isFree)), warnings: [] };
    } catch (error) {
      // A free size may have a least value that only the model knows.
      const reason = `A sample of zeros could not be predicted (${messageOf(error)}), so the server does not list its outputs.`;
      return { outputs: [], warnings: [reason] };
    }
  }
}

/** Sizes between N and the last depend on the sample where its shape is free. */
function infoOf({ name, datatype, shape }: Tensor, isFree: boolean): TensorInfo {
  return { name, datatype, shape: shape.map((size, i) => (i === 0 || (isFree && i < shape.length - 1) ? -1 : size)) };
}

/** Whether the run kept how the columns of its training table become features. */
export function hasColumns(preprocessing: Preprocessing | null): boolean {
  return preprocessing !== null && Object.keys(columnTypes(preprocessing)).length > 0;
}

/** One input for each column of the training table, or those of the models. */
function inputsOf({ models: [model], preprocessing }: Ensemble): InputInfo[] {
  if (preprocessing !== null && hasColumns(preprocessing)) {
    const imputed = imputedColumns(preprocessing);
    return Object.entries(columnTypes(preprocessing)).map(([name, type]) => {
      const datatype = type === 'number' ? 'FP64' : type === 'boolean' ? 'BOOL' : 'BYTES';
      return { name, datatype, shape: [-1, 1], kind: 'column', isOptional: imputed.has(name) };
    });
  }
  const isImage = preprocessing?.steps.some(({ kind }) => kind === 'images') ?? false;
  const only = isImage ? 'images' : 'features';
  const main = featurePosition(model, preprocessing) ?? 0;
  return model.inputs.map(({ shape }, i) => ({
    // A sequential model has no names of inputs.
    name: model.inputs.length === 1 ? only : model.inputNames[i],
    datatype: isImage && i === main ? 'UINT8' : 'FP32',
    shape: shape.map((size) => size ?? -1),
    kind: i === main ? 'values' : 'extra',
  }));
}

/** Tensors as samples to predict: they have been checked against the inputs. */
function inputFrom(
  inputs: readonly InputInfo[],
  tensors: readonly Tensor[],
  preprocessing: Preprocessing | null,
): EnsembleInput {
  if (inputs[0].kind === 'column') return { table: tableOfRows(rowsFrom(tensors), preprocessing) };
  const given = inputs.map((info) => {
    const tensor = tensors.find(({ name }) => name === info.name);
    if (tensor !== undefined) return { info, tensor };
    throw new Error(`The input "${info.name}" is missing.`);
  });
  const fields = given.map(({ info, tensor: { name, shape, values } }) => {
    return { name, isMain: info.kind === 'values', shape: shape.slice(1), values };
  });
  const main = fields.find(({ isMain }) => isMain) ?? fields[0];
  const others = fields.filter((own) => own !== main);
  const extraInputs = Object.fromEntries(others.map(({ name, shape, values }) => [name, { shape, values } as Field]));
  return { values: main.values as Float32Array | Uint8Array, shape: main.shape, extraInputs };
}

function tableFrom(tensors: readonly Tensor[]): Table {
  const columns = tensors.map(({ name, datatype, values }): Column => {
    if (datatype === 'BYTES') return { name, type: 'text', values: values as readonly (string | null)[] };
    return { name, type: datatype === 'BOOL' ? 'boolean' : 'number', values: values as Float64Array };
  });
  return { name: 'the request', length: tensors[0].shape[0], columns };
}

function rowsFrom(tensors: readonly Tensor[]): Row[] {
  return Array.from({ length: tensors[0].shape[0] }, (_, row) =>
    Object.fromEntries(tensors.map((tensor): [string, Cell] => [tensor.name, cellOf(tensor, row)])),
  );
}

function cellOf({ datatype, values }: Tensor, row: number): Cell {
  const value = values[row];
  if (typeof value !== 'number') return value;
  if (Number.isNaN(value)) return null;
  return datatype === 'BOOL' ? value === 1 : value;
}

/** A free size becomes this. */
const triedSize = 32;

function zerosFor({ name, datatype, shape, kind }: InputInfo, { preprocessing }: Ensemble): Tensor {
  const sizes = shape.map((size, i) => (i === 0 ? 1 : size === -1 ? triedSize : size));
  const count = sizes.reduce((product, size) => product * size, 1);
  const tensor = { name, datatype, shape: sizes };
  if (kind === 'values')
    return { ...tensor, values: datatype === 'UINT8' ? new Uint8Array(count) : new Float32Array(count) };
  if (kind === 'extra') return { ...tensor, values: new Float32Array(count) };
  if (datatype !== 'BYTES') return { ...tensor, values: new Float64Array(count) };
  const column = preprocessing?.steps
    .flatMap((step) => (step.kind === 'table' ? step.columns : []))
    .find((own) => own.name === name);
  const text = column?.type === 'category' ? column.categories[0] : column?.type === 'date' ? '1970-01-01' : 'a';
  return { ...tensor, values: [text] };
}
