import {
  type ColumnStep,
  featurePosition,
  type Preprocessing,
  type TableStep,
} from '../../core/preprocessing/schema.ts';
import { callsOf, type Shape } from '../exchange/model-calls.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { type GraphBuilder, mlDomain, valueInfo } from './format/graph.ts';
import type { ValueInfoProto } from './format/messages.ts';

/** The inputs of an ensemble's graph, and how the models get them. */
export interface GraphInputs {
  infos: ValueInfoProto[];
  /** The values of the models' inputs, in the order of their inputs. */
  values: string[];
  /**
   * What the inputs are: `raw` before all that the run fitted, `prepared` as the models take them, `mixed`: some are
   * raw.
   */
  kind: 'raw' | 'prepared' | 'mixed';
}

type Standardize = Extract<Preprocessing['steps'][number], { kind: 'standardize' }>;

/**
 * Writes what was fitted on the training split as nodes, so that the file takes values as they are before it. Ids of
 * tokens are made by the run's tokenizer, which ONNX lacks.
 * @param reserved names of outputs, which no input may have
 */
export function writeInputs(
  graph: GraphBuilder,
  model: LayersModel,
  preprocessing: Preprocessing | null,
  reserved: readonly string[],
): GraphInputs {
  const features = preprocessing === null ? null : featureInput(model, preprocessing);
  const infos: ValueInfoProto[] = [];
  const values = model.inputs.map((_, i) => {
    const own =
      preprocessing !== null && i === features
        ? rawInput(graph, model, i, { preprocessing, reserved })
        : preparedInput(model, i, reserved);
    infos.push(...own.infos);
    return own.value;
  });
  const kind = features === null ? 'prepared' : model.inputs.length === 1 ? 'raw' : 'mixed';
  return { infos, values, kind };
}

/** The position of the input that takes what the preprocessing makes; null where that is tokens alone, or not known. */
function featureInput(model: LayersModel, preprocessing: Preprocessing): number | null {
  const { steps } = preprocessing;
  const isOther = steps.some(({ kind }) => kind !== 'texts');
  const hasTexts = steps.some(({ kind }) => kind === 'texts');
  const isTextAlone = hasTexts && !steps.some(({ kind }) => kind === 'table' || kind === 'images');
  return !isOther || isTextAlone ? null : featurePosition(model, preprocessing);
}

interface WrittenInput {
  infos: ValueInfoProto[];
  value: string;
}

/** Values before what was fitted: columns of a table, images, or numbers before standardization. */
function rawInput(
  graph: GraphBuilder,
  model: LayersModel,
  position: number,
  { preprocessing: { steps }, reserved }: { preprocessing: Preprocessing; reserved: readonly string[] },
): WrittenInput {
  const { shape } = model.inputs[position];
  const table = steps.find((step) => step.kind === 'table');
  const scales = steps.filter((step) => step.kind === 'standardize');
  const isImage = steps.some(({ kind }) => kind === 'images');
  const name = inputName(model, position, isImage ? 'images' : 'features', reserved);
  const { infos, value } =
    table === undefined ? valueInput(graph, name, shape, isImage) : tableInputs(graph, table, reserved);
  return { infos, value: scales.reduce((x, scale) => standardized(graph, x, scale, shape), value) };
}

/** An input as the models take it; ids of embeddings as whole numbers. */
function preparedInput(model: LayersModel, position: number, reserved: readonly string[]): WrittenInput {
  const { shape } = model.inputs[position];
  const name = inputName(model, position, 'features', reserved);
  const isId = takesIds(model, position);
  const what = isId ? 'Ids, as the models take them' : 'Values as the models take them, after all preprocessing';
  return { infos: [valueInfo(name, isId ? 'int64' : 'float', sizesOf(shape), what)], value: name };
}

function takesIds(model: LayersModel, input: number): boolean {
  const { name } = model.inputs[input];
  const users = callsOf(model).filter(({ inputs }) => inputs.some((own) => own.name === name));
  return users.length > 0 && users.every(({ layer }) => layer.getClassName() === 'Embedding');
}

function valueInput(graph: GraphBuilder, name: string, shape: Shape, isImage: boolean): WrittenInput {
  const sizes = sizesOf(shape);
  if (!isImage) {
    const info = valueInfo(name, 'float', sizes, 'Values before standardization; bytes divided by 255');
    return { infos: [info], value: name };
  }
  const info = valueInfo(name, 'uint8', sizes, 'Pixels from 0 to 255, channels last, in the size of the training');
  const value = graph.op('Div', [graph.op('Cast', [name], { to: 1 }), graph.scalar(255)]);
  return { infos: [info], value };
}

/** (x − mean) / std, computed in float64 as in training. Value i of a sample has entry i mod C. */
function standardized(graph: GraphBuilder, x: string, { mean, std }: Standardize, shape: Shape): string {
  const sample = shape.slice(1).map((size) => size ?? 1);
  const size = sample.reduce((product, own) => product * own, 1);
  const isLast = mean.length === sample.at(-1) || mean.length === 1;
  const constant = (values: readonly number[]): string =>
    isLast
      ? graph.doubles(values)
      : graph.doubles(
          Array.from({ length: size }, (_, i) => values[i % values.length]),
          sample,
        );
  const centred = graph.op('Sub', [graph.op('Cast', [x], { to: 11 }), constant(mean)]);
  return graph.op('Cast', [graph.op('Div', [centred, constant(std)])], { to: 1 });
}

/** One input `[N, 1]` for each column of the table. */
function tableInputs(graph: GraphBuilder, { columns }: TableStep, reserved: readonly string[]): WrittenInput {
  const infos: ValueInfoProto[] = [];
  const features = columns.flatMap((column) => {
    const name = freeName(column.name, reserved);
    const isCategory = column.type === 'category';
    infos.push(valueInfo(name, isCategory ? 'string' : 'double', ['N', 1], describeColumn(column)));
    return graph.within(`column ${column.name}`, () =>
      isCategory ? categoryFeatures(graph, name, column) : numberFeatures(graph, name, column),
    );
  });
  return { infos, value: graph.op('Concat', features, { axis: 1 }) };
}

const meanings = { number: 'A number', date: 'Days since 1970-01-01 UTC', boolean: '0 or 1' } as const;

function describeColumn(column: ColumnStep): string {
  const missing = column.impute === null ? 'is refused by training' : `counts as ${column.impute.value}`;
  return column.type === 'category'
    ? `A text, one of ${column.categories.length} categories, spelt as in preprocessing.json (3 for 3.0, true ` +
        `for True); a missing value (an empty text) ${missing}`
    : `${meanings[column.type]}; a missing value (NaN) ${missing}`;
}

function numberFeatures(graph: GraphBuilder, x: string, column: Exclude<ColumnStep, { type: 'category' }>): string[] {
  const { impute, mean, std } = column;
  const isMissing = impute === null ? null : graph.op('IsNaN', [x]);
  const complete = isMissing === null ? x : graph.op('Where', [isMissing, graph.doubles([impute?.value ?? 0], []), x]);
  const centred = graph.op('Sub', [complete, graph.doubles([mean], [])]);
  const feature = graph.op('Cast', [graph.op('Div', [centred, graph.doubles([std], [])])], { to: 1 });
  return impute?.indicator && isMissing !== null ? [feature, graph.op('Cast', [isMissing], { to: 1 })] : [feature];
}

/**
 * One feature for each category: 1 where the value is that category, spelt as by `categoryText`, for which ONNX has no
 * operator. Values that the training lacks give zeros.
 */
function categoryFeatures(graph: GraphBuilder, x: string, column: Extract<ColumnStep, { type: 'category' }>): string[] {
  const { impute, categories } = column;
  const imputed = impute === null ? -1 : categories.indexOf(impute.value);
  const indexOf = new Map(categories.map((category, i) => [category, i]));
  if (imputed >= 0 && !indexOf.has('')) indexOf.set('', imputed);
  const [keys, indices] = [[...indexOf.keys()], [...indexOf.values()]];
  const encoder = { keys_strings: keys, values_int64s: indices, default_int64: categories.length };
  const [index] = graph.node('LabelEncoder', [x], encoder, 1, mlDomain);
  const depth = graph.integers([categories.length], []);
  const chosen = graph.op('OneHot', [index, depth, graph.floats([0, 1])], { axis: -1 });
  const features = graph.op('Reshape', [chosen, graph.integers([-1, categories.length])]);
  if (!impute?.indicator) return [features];
  const missing = { keys_strings: [''], values_floats: { floats: [1] }, default_float: { float: 0 } };
  return [features, graph.node('LabelEncoder', [x], missing, 1, mlDomain)[0]];
}

/** `only` where the model has one input, else the input's own name, as `tutti serve` has it. */
function inputName(
  { inputs, inputNames }: LayersModel,
  position: number,
  only: 'features' | 'images',
  reserved: readonly string[],
): string {
  return inputs.length === 1 ? only : freeName(inputNames[position], reserved);
}

function freeName(name: string, reserved: readonly string[]): string {
  return reserved.includes(name) ? `input ${name}` : name;
}

/** The sizes of a batch of any number of samples. */
function sizesOf(shape: Shape): (number | string)[] {
  return ['N', ...shape.slice(1).map((size, axis) => size ?? `size_${axis + 1}`)];
}
