import { basename, dirname, resolve } from 'node:path';
import { orderClasses } from '../../../core/preprocessing/reading.ts';
import type { TargetMeaning } from '../../../core/preprocessing/schema.ts';
import { Generator } from '../../../core/random/generator.ts';
import { createDataset, createSplits, type Dataset, mapEachSplit, type Splits } from '../dataset.ts';
import { noteData } from '../notes.ts';
import { createSourceDataset } from '../streams/sample-source.ts';
import type { SampleSource } from '../streams/source.ts';
import { type Division, divideRows, divisionAt, type Fold, numbersOf } from '../assign-rows.ts';
import { type Column, isMissingAt } from '../tables/columns.ts';
import { readTable, type ReadTableOptions } from '../tables/read-table.ts';
import { columnOf, type Table } from '../tables/table.ts';
import { fitTarget, targetsOf } from '../tables/targets.ts';
import { decodeImages, type ImageShape, imagesStep, tellFindings } from './decode.ts';
import { ImageFindings } from './deep-images.ts';
import { listClasses, type LabelledFiles } from './image-files.ts';
import { findSplitFolders, type SplitFolders } from './split-folders.ts';

/** How to read images, and how to split them. */
export interface ImageOptions extends ImageShape {
  /** Name of the data; the folder or table by default. */
  name?: string;
  /** Decides the splits. */
  seed: number;
  /** Size of the validation split: below 1 a fraction of all images, from 1 a count; 0 by default. */
  validation?: number;
  /** Size of the test split; 0 by default. */
  test?: number;
  /** Makes fold `index` (from 0) of `count` the test split, in place of `test`. */
  fold?: Fold | undefined;
  /**
   * Whether images are decoded only when their batch comes, in threads: for more images than fit into memory. False by
   * default.
   */
  onDisk?: boolean;
}

/** How to read folders of images, and how to split them. */
export interface ImageFolderOptions extends ImageOptions {
  /**
   * The subfolders of the splits, `{ train: 'Entrenamiento', test: 'Prueba' }`; false: every subfolder is a class. By
   * default folders called `train`, `Training`, `valid`, `test_set` and alike are splits where `train` has a folder for
   * each class.
   */
  splitFolders?: SplitFolders;
}

/** How to read a table of images, itself read as by `readTable`. */
export interface ImageTableOptions extends ImageOptions, Omit<ReadTableOptions, 'name'> {
  /** The column with the images' paths, which begin at the table's folder; the first by default. */
  path?: string | number;
  /** The column to predict; the last by default. Several columns of numbers for several values. */
  target?: string | number | readonly string[];
  /**
   * `classes`: each distinct value is a class, in natural order. By default numbers are `values`, all else `classes`.
   */
  targetKind?: 'values' | 'classes';
  /** Mean 0 and standard deviation 1 for targets that are values; false by default. */
  standardizeTargets?: boolean;
  /** The column whose value images of one group share: a group lies in one split, fold and hold-out. */
  group?: string;
}

/**
 * Splits of the images in a folder per class, `<folder>/<class>/`. Where the folder has a subfolder for each split
 * (`splitFolders`), each with a folder per class, these are the splits; `validation` and `test` without a folder are
 * drawn from the training images, with the classes in the same proportions. Files that are left out, and what else
 * reading finds, are noted in the run's record. Features are bytes `[N, height, width, channels]`; classes are in
 * natural order (1, 2, ... 12).
 * @throws Error that names the folder or image, and the remedy
 */
export async function imageFolder(folder: string, options: ImageFolderOptions): Promise<Splits> {
  const name = options.name ?? basename(folder);
  const parts = await findParts(name, folder, options);
  const classNames = orderClasses(parts.train.classes);
  const target: TargetMeaning = { kind: 'classes', column: 'class', classNames };
  const listed = mapEachSplit(parts, (part) => ({
    files: part.files,
    about: { targets: labelsOf(part, classNames), classNames, ...part.division },
  }));
  return toSplits(name, listed, target, options);
}

/**
 * Splits of images whose paths and targets are in a table (CSV, JSON lines, Parquet): see `imageFolder` and
 * `tableSplits`.
 * @throws Error that names the table's row or the image, and the remedy
 */
export async function imageTable(file: string, options: ImageTableOptions): Promise<Splits> {
  const table = await readTable(file, options);
  const path = columnOf(table, options.path ?? 0);
  const wanted = options.target ?? table.columns.length - 1;
  const targets = (typeof wanted === 'object' ? wanted : [wanted]).map((name) => columnOf(table, name));
  const group = options.group === undefined ? null : columnOf(table, options.group);
  const all = Int32Array.from({ length: table.length }, (_, row) => row);
  requireValues(table, [path, ...targets, ...(group === null ? [] : [group])]);
  const isOfClasses = (options.targetKind ?? fitTarget(table.name, targets, all, options).kind) === 'classes';
  const division = {
    strata: isOfClasses && group === null ? numbersOf(targets[0]) : null,
    groups: group && numbersOf(group),
  };
  const rows = divide(table.name, all, division, options);
  const target = fitTarget(table.name, targets, rows.train, options);
  const listed = mapEachSplit(rows, (own) => ({
    files: Array.from(own, (row) => resolve(dirname(file), String(path.values[row]))),
    about: { ...targetsOf(table.name, target, targets, own), ...divisionAt(division, own) },
  }));
  return toSplits(table.name, listed, target, options);
}

/** Images of a split, with what a data set needs beside them. */
interface ListedImages {
  files: readonly string[];
  about: Pick<Dataset, 'targets' | 'classNames' | 'groups' | 'strata'>;
}

async function findParts(name: string, folder: string, options: ImageFolderOptions) {
  const { train, validation, test } = await findSplitFolders(folder, options.splitFolders);
  if (test !== undefined && options.fold !== undefined) {
    throw new Error(
      `${test} is the test split, so the run cannot test on fold ${options.fold.index}. Leave the folds out, or ` +
        'name the folder of the training images alone: splitFolders: { train: ... }.',
    );
  }
  noteUnused(validation, 'validation', options);
  noteUnused(test, 'test', options);
  const drawn = drawParts(name, await listClasses(train), {
    ...options,
    ...(validation !== undefined && { validation: 0 }),
    ...(test !== undefined && { test: 0 }),
  });
  const partOf = async (own: string) => ({ ...(await listClasses(own)), division: {} });
  return {
    train: drawn.train,
    validation: validation === undefined ? drawn.validation : await partOf(validation),
    test: test === undefined ? drawn.test : await partOf(test),
  };
}

function noteUnused(folder: string | undefined, split: 'validation' | 'test', options: ImageOptions): void {
  if (folder === undefined || !options[split]) return;
  noteData(`${split}: ${options[split]} has no effect, because the images of ${folder} are that split.`);
}

function drawParts(name: string, all: LabelledFiles, options: ImageOptions) {
  const numbers = new Map([...new Set(all.classes)].map((own, label) => [own, label]));
  const strata = Int32Array.from(all.classes, (own) => numbers.get(own) ?? 0);
  const division = { strata, groups: null };
  const rows = divide(
    name,
    strata.map((_, row) => row),
    division,
    options,
  );
  return mapEachSplit(rows, (own) => ({
    files: Array.from(own, (row) => all.files[row]),
    classes: Array.from(own, (row) => all.classes[row]),
    division: divisionAt(division, own),
  }));
}

function labelsOf({ files, classes }: LabelledFiles, classNames: readonly string[]): Int32Array {
  return Int32Array.from(classes, (own, i) => {
    const label = classNames.indexOf(own);
    if (label >= 0) return label;
    throw new Error(`${files[i]} is of the class ${JSON.stringify(own)}, which the training split lacks.`);
  });
}

function requireValues({ name, length }: Table, columns: readonly Column[]): void {
  for (const column of columns) {
    const missing = Array.from({ length }, (_, row) => row).find((row) => isMissingAt(column, row));
    if (missing === undefined) continue;
    throw new Error(
      `Column "${column.name}" of ${name} has no value in row ${missing + 1}. Every image needs a path and a ` +
        'target: complete or remove the row.',
    );
  }
}

function divide(name: string, rows: Int32Array, division: Division, options: ImageOptions) {
  const { seed, validation, test, fold } = options;
  const counts = [test, validation].map((size = 0) => (size < 1 ? Math.round(size * rows.length) : size));
  if (!counts.every((count) => Number.isInteger(count) && count >= 0) || counts[0] + counts[1] >= rows.length) {
    throw new RangeError(
      `Splitting ${name}: ${validation ?? 0} for validation and ${test ?? 0} for the test are not possible with ` +
        `${rows.length} images. Give fractions below 1 or whole numbers that leave images to train on.`,
    );
  }
  const sizes = { test: counts[0], validation: counts[1], fold };
  const divided = divideRows(name, rows, sizes, division, new Generator(seed, 'image-splits'));
  return {
    train: divided.train,
    validation: divided.validation.length > 0 ? divided.validation : undefined,
    test: divided.test.length > 0 ? divided.test : undefined,
  };
}

async function toSplits(
  name: string,
  parts: { train: ListedImages; validation?: ListedImages; test?: ListedImages },
  target: TargetMeaning,
  options: ImageOptions,
): Promise<Splits> {
  const step = imagesStep(options);
  const findings = new ImageFindings();
  const datasetOf = async (split: string, part?: ListedImages) => {
    if (part === undefined) return undefined;
    const about = { name: `${name}${split}`, ...part.about };
    if (options.onDisk) {
      await decodeImages(evenly(part.files, mostTried), options, findings);
      return createSourceDataset({ ...about, source: imageSource(part.files, options) });
    }
    const featureShape = [step.height, step.width, step.channels];
    return createDataset({ ...about, featureShape, features: await decodeImages(part.files, options, findings) });
  };
  const train = await datasetOf('', parts.train);
  if (train === undefined) throw new Error(`${name} has no training split.`);
  const validation = await datasetOf(' validation', parts.validation);
  const test = await datasetOf(' test', parts.test);
  tellFindings(name, findings, options);
  if (options.maximum !== undefined && (!options.onDisk || findings.hasDeep)) {
    findings.requirePossible(name, options.maximum);
  }
  return createSplits({ train, validation, test, preprocessing: { format: 1, steps: [step], target } });
}

/** Images on disk that are decoded before training, to see what they hold. */
const mostTried = 64;

function evenly<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all];
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]);
}

/** Images that are decoded when their batch comes. */
function imageSource(files: readonly string[], shape: ImageShape): SampleSource {
  const { height, width, channels } = imagesStep(shape);
  return {
    length: files.length,
    featureShape: [height, width, channels],
    type: 'uint8',
    read: (indices) =>
      decodeImages(
        Array.from(indices, (index) => files[index]),
        shape,
      ),
  };
}
