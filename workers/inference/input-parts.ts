import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { InputPart, ShownField } from '../../core/ensemble/sample-inputs.ts';
import { Tokenizer } from '../../core/tokens/tokenizer.ts';
import type { Dataset } from '../data/dataset.ts';
import type { Field } from '../data/fields.ts';
import { rowsOfTable, tableCells, tableWidth } from '../data/preprocessing/table-cells.ts';
import type { InputBlock } from './read-inputs.ts';

/** More fields of a row are left out. */
const maximumFields = 200;
/** Longer vectors are drawn. */
const longestRow = 64;
/** More channels are drawn as an image. */
const mostLines = 8;

/**
 * The input of a sample as a person reads it: a table's row and texts from what the run fitted, texts from the data
 * set's own tokenizer, images, series, and else numbers.
 * @param dataset in memory, with raw values: batches apply the normalization
 */
export async function inputParts(
  dataset: Dataset,
  preprocessing: Preprocessing | null,
  sample: number,
): Promise<InputPart[]> {
  const { features, featureShape, tokenizer, extraInputs = {}, length } = dataset;
  const main = features.subarray((sample * features.length) / length, ((sample + 1) * features.length) / length);
  const own = tokenizer === undefined ? null : ownText(tokenizer, main);
  const parts = [own ?? (await mainPart(main, featureShape, preprocessing))];
  for (const [name, field] of Object.entries(extraInputs)) {
    const size = field.values.length / length;
    const values = field.values.subarray(sample * size, (sample + 1) * size);
    parts.push(textPart(name, values, preprocessing) ?? (await valuesPart(name, { shape: field.shape, values })));
  }
  return parts;
}

/** The text of ids of tokens; null where a project has made other values of them. */
function ownText(tokenizer: Tokenizer, ids: Float32Array | Uint8Array): InputPart | null {
  const areIds = ids.every((id) => Number.isInteger(id) && id >= 0 && id < tokenizer.size);
  return areIds ? { kind: 'text', name: null, text: tokenizer.decode(ids) } : null;
}

async function mainPart(
  values: Float32Array | Uint8Array,
  shape: readonly number[],
  preprocessing: Preprocessing | null,
): Promise<InputPart> {
  const text = textPart(null, values, preprocessing);
  if (text !== null) return text;
  const table = preprocessing?.steps.find((step) => step.kind === 'table');
  const isRow = table !== undefined && tableWidth(table) === values.length;
  return isRow ? rowPart(null, tableCells(table, values)) : valuesPart(null, { shape, values });
}

/** The text of an input of token ids that a fitted tokenizer made; null for other inputs. */
function textPart(input: string | null, ids: Field['values'], preprocessing: Preprocessing | null): InputPart | null {
  const columns = (preprocessing?.steps ?? []).flatMap((step) => (step.kind === 'texts' ? step.columns : []));
  const column = columns.find((one) => one.input === input && one.length === ids.length);
  if (column === undefined) return null;
  return { kind: 'text', name: column.name, text: new Tokenizer(column.tokenizer).decode(ids) };
}

/** Values as an image, a series or numbers, by their shape. */
async function valuesPart(name: string | null, { shape, values }: Field): Promise<InputPart> {
  const numbers = values instanceof Int32Array ? Float32Array.from(values) : values;
  const image = imageSizeOf(shape, values);
  if (image !== null) return imagePart(name, numbers, image);
  if (shape.length <= 1 && values.length <= longestRow) return rowPart(name, numberedFields(values));
  if (shape.length <= 2) {
    const channels = shape[1] ?? 1;
    return { kind: 'series', name, steps: shape[0], channels, values: Float32Array.from(numbers) };
  }
  return rowPart(name, [{ name: 'shape', value: shape.join(' × ') }]);
}

/**
 * Whether values are drawn as an image, and its size. Bytes in one dimension are an image that was flattened, if they
 * fill a square.
 */
function imageSizeOf(shape: readonly number[], values: Field['values']) {
  const [height, width, channels = 1] = shape;
  if (shape.length === 3) return channels <= 4 ? { height, width, channels } : null;
  if (shape.length === 2) return width > mostLines ? { height, width, channels: 1 } : null;
  if (shape.length !== 1 || !(values instanceof Uint8Array)) return null;
  for (const flattened of [1, 3]) {
    const edge = Math.sqrt(values.length / flattened);
    if (Number.isInteger(edge) && edge >= mostLines) return { height: edge, width: edge, channels: flattened };
  }
  return null;
}

/** A row without the fields that are too many to be shown. */
function rowPart(name: string | null, fields: readonly ShownField[]): InputPart {
  const shown = fields.slice(0, maximumFields);
  return { kind: 'row', name, fields: shown, hidden: fields.length - shown.length };
}

function numberedFields(values: ArrayLike<number>): ShownField[] {
  return Array.from(values, (value, i) => ({ name: `x${i}`, value }));
}

/** A longer edge is reduced to this number of pixels. */
const largestEdge = 512;

/** An image's size; `channels` are all that a pixel has. */
interface ImageSize {
  height: number;
  width: number;
  channels: number;
}

/**
 * An image as a PNG file of at most 512 × 512 pixels: grey for one or two channels, RGB of the first three for more.
 * Bytes stay as they are. Other values are shown from 0 to 1 where all are in it, else from the smallest to the
 * largest; NaN is black.
 *
 * @param values shape `[height, width, channels]`
 */
async function imagePart(
  name: string | null,
  values: Float32Array | Uint8Array,
  { height, width, channels }: ImageSize,
): Promise<InputPart> {
  const shown = channels < 3 ? 1 : 3;
  const levels = levelsOf(values);
  const bytes = Buffer.from(
    Uint8Array.from({ length: height * width * shown }, (_, i) =>
      levels(values[Math.floor(i / shown) * channels + (i % shown)]),
    ),
  );
  // Most projects have no images.
  const { default: sharp } = await import('sharp');
  const image = sharp(bytes, { raw: { height, width, channels: shown } });
  const scale = Math.min(1, largestEdge / Math.max(height, width));
  const reduced =
    scale === 1
      ? image
      : image.resize({
          height: Math.max(1, Math.round(height * scale)),
          width: Math.max(1, Math.round(width * scale)),
          fit: 'fill',
          background: '#000',
        });
  return { kind: 'image', name, png: new Uint8Array(await reduced.png().toBuffer()), height, width };
}

/** Returns the function from a value to a byte. */
function levelsOf(values: Float32Array | Uint8Array): (value: number) => number {
  if (values instanceof Uint8Array) return (value) => value;
  const finite = values.filter(Number.isFinite);
  const low = finite.reduce((least, value) => Math.min(least, value), Infinity);
  const high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  const [from, to] = low >= 0 && high <= 1 ? [0, 1] : [low, high];
  return (value) => {
    if (Number.isNaN(value) || to === from) return 0;
    return Math.round(255 * Math.min(1, Math.max(0, (value - from) / (to - from))));
  };
}

/** The inputs of a block's first samples as a person reads them: rows of the table as it was given, else values. */
export async function blockInputs({ input, table }: InputBlock, count: number): Promise<InputPart[][]> {
  if (table !== undefined) return rowsOfTable(table, count).map((fields) => [rowPart(null, fields)]);
  if (!('values' in input) || input.shape === undefined) return [];
  const { values, shape } = input;
  const size = shape.reduce((product, own) => product * own, 1);
  const samples = Math.min(count, values.length / size);
  return Promise.all(
    Array.from({ length: samples }, async (_, sample) => [
      await valuesPart(null, { shape, values: values.subarray(sample * size, (sample + 1) * size) }),
    ]),
  );
}
