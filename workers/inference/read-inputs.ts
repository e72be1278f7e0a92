import { stat } from 'node:fs/promises';
import { basename, relative } from 'node:path';
import { dataFormatOf, formatsWith } from '../../core/preprocessing/data-formats.ts';
import type { TableReading } from '../../core/preprocessing/reading.ts';
import type { Preprocessing, SeriesStep } from '../../core/preprocessing/schema.ts';
import type { PredictionColumn } from '../../core/ensemble/columns.ts';
import { openSamples, readArrays } from '../data/read-arrays.ts';
import type { FileArray } from '../data/npy.ts';
import type { Field } from '../data/fields.ts';
import { decodeImages } from '../data/images/decode.ts';
import { ImageFindings } from '../data/images/deep-images.ts';
import { listImages } from '../data/images/image-files.ts';
import { noteData } from '../data/notes.ts';
import { joinedTables, lastWindows, placesOf, seriesTypes } from '../data/series/last-windows.ts';
import { columnTypes, imputedColumns } from '../data/preprocessing/fitted.ts';
import { tableBlocks } from '../data/tables/table-blocks.ts';
import type { Table } from '../data/tables/table.ts';
import type { EnsembleInput } from './inputs.ts';

/** Some of the samples of a file or folder, in its order. */
export interface InputBlock {
  input: EnsembleInput;
  /** Paths of images, relative to their folder. */
  files?: string[];
  /** The table that the input was made of. */
  table?: Table;
  /** What says which samples these are. */
  places?: PredictionColumn[];
}

/** Turns a block of a table into inputs of the model, as a project's `inputs` does. */
export type TableInputs = (table: Table) => Promise<EnsembleInput>;

const arraySamples = 4096;
const imageSamples = 256;

/**
 * Reads samples to predict, block by block: a table, text (one sample a line), arrays, or a folder of images.
 * @param tableInputs of the project, for tables where the run kept no step for these; null if it has none
 * @throws Error that names what cannot be read
 */
export async function* readInputs(
  path: string,
  preprocessing: Preprocessing | null,
  tableInputs: (() => Promise<TableInputs | null>) | null,
): AsyncGenerator<InputBlock> {
  if ((await stat(path)).isDirectory()) return yield* imageBlocks(path, preprocessing);
  if (dataFormatOf(path)?.holds === 'arrays') return yield* arrayBlocks(path);
  const series = preprocessing?.steps.find((step) => step.kind === 'series');
  if (series !== undefined) {
    yield await seriesBlock(path, series, preprocessing?.reading ?? null);
    return;
  }
  const types = preprocessing === null ? {} : columnTypes(preprocessing);
  const isFitted = Object.keys(types).length > 0;
  const own = isFitted ? null : ((await tableInputs?.()) ?? null);
  const reading = preprocessing?.reading ?? null;
  const imputed = preprocessing === null ? new Set<string>() : imputedColumns(preprocessing);
  for await (const table of tableBlocks(path, { types: isFitted ? types : null, imputed, reading })) {
    yield { input: own === null ? { table } : await own(table), table };
  }
}

/** The last steps of each series of a table, which is read as a whole. */
async function seriesBlock(path: string, step: SeriesStep, reading: TableReading | null): Promise<InputBlock> {
  const tables: Table[] = [];
  for await (const table of tableBlocks(path, { types: seriesTypes(step), reading })) tables.push(table);
  const last = lastWindows(step, joinedTables(tables));
  if (last.leftOut !== null) noteData(`${last.leftOut} They are left out.`);
  return { input: { values: last.values, shape: last.shape }, places: placesOf(step, last) };
}

async function* imageBlocks(folder: string, preprocessing: Preprocessing | null): AsyncGenerator<InputBlock> {
  const step = preprocessing?.steps.find(({ kind }) => kind === 'images');
  if (step?.kind !== 'images') {
    throw new Error(
      `${folder} is a folder, but the run kept no size of images (its data do not come from imageFolder or ` +
        'imageTable). Give the values as an array (.npy).',
    );
  }
  const files = await listImages(folder);
  if (files.length === 0) throw new Error(`${folder} has no images (${formatsWith('image').join(', ')}).`);
  const { height, width, channels, fit, maximum } = step;
  const shape = { size: [height, width] as const, channels, fit, ...(maximum !== undefined && { maximum }) };
  const findings = new ImageFindings();
  for (let first = 0; first < files.length; first += imageSamples) {
    const own = files.slice(first, first + imageSamples);
    const input = { values: await decodeImages(own, shape, findings), shape: [height, width, channels] };
    yield { input, files: own.map((file) => relative(folder, file)) };
  }
  for (const note of findings.notes(maximum)) noteData(note);
}

async function* arrayBlocks(path: string): AsyncGenerator<InputBlock> {
  const samples = await openSamples(path);
  if (samples === null) return yield* wholeArrays(path, await readArrays(path));
  for (let first = 0; first < samples.length; first += arraySamples) {
    const size = Math.min(arraySamples, samples.length - first);
    const values = await samples.read(Int32Array.from({ length: size }, (_, i) => first + i));
    yield { input: { values, shape: samples.featureShape } };
  }
}

/** Arrays in memory: `features`, or the only one; others go to the model's inputs of their names. */
function* wholeArrays(path: string, arrays: Record<string, FileArray>): Generator<InputBlock> {
  const names = Object.keys(arrays);
  const main = names.length === 1 ? names[0] : 'features';
  if (!Object.hasOwn(arrays, main)) {
    throw new Error(
      `${basename(path)} has the arrays ${names.join(', ')}. Name the one with the features "features", and ` +
        "the others like the model's inputs.",
    );
  }
  const samples = arrays[main].shape[0] ?? 0;
  for (let first = 0; first < samples; first += arraySamples) {
    const size = Math.min(arraySamples, samples - first);
    const others = names.filter((name) => name !== main);
    const extraInputs = Object.fromEntries(
      others.map((name): [string, Field] => {
        const { shape } = arrays[name];
        return [name, { shape: shape.slice(1), values: rowsOf(path, name, arrays[name], { samples, first, size }) }];
      }),
    );
    const values = rowsOf(path, main, arrays[main], { samples, first, size });
    const raw = values instanceof Int32Array ? Float32Array.from(values) : values;
    yield { input: { values: raw, extraInputs, shape: arrays[main].shape.slice(1) } };
  }
}

function rowsOf(
  path: string,
  name: string,
  { shape, values }: FileArray,
  { samples, first, size }: { samples: number; first: number; size: number },
) {
  if (shape[0] !== samples) {
    throw new Error(
      `${basename(path)}: "${name}" has ${shape[0]} samples, the features have ${samples}. Give as many.`,
    );
  }
  const width = values.length / samples;
  return values.subarray(first * width, (first + size) * width);
}
