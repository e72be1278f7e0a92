import { basename, dirname, resolve } from 'node:path';
import { type RowProblem, rowProblemText, rowRemedies } from '../../../core/preprocessing/image-profile.ts';
import type { TargetMeaning } from '../../../core/preprocessing/schema.ts';
import type { SplitName } from '../../../core/preprocessing/split-column.ts';
import { Generator } from '../../../core/random/generator.ts';
import { createDataset, createSplits, type Dataset, mapEachSplit, type Splits } from '../dataset.ts';
import { noteData } from '../notes.ts';
import { createSourceDataset } from '../streams/source-dataset.ts';
import type { SampleSource } from '../streams/sources.ts';
import { type Division, divideRows, divisionAt, type Fold, numbersOf } from '../assign-rows.ts';
import { type Column, textAt } from '../tables/columns.ts';
import { readTable, type ReadTableOptions } from '../tables/read-table.ts';
import { columnOf } from '../tables/table.ts';
import { fitTarget, targetsOf } from '../tables/targets.ts';
import { decodeImages, type ImageShape, imagesStep, tellFindings } from './decode.ts';
import { ImageFindings } from './deep-images.ts';
import { listClasses } from './image-files.ts';
import { nameImages } from './image-rows.ts';
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

/** The values of a column that say in which split a row is; rows with other values are left out. */
export interface SplitColumn {
  column: string;
  train: string;
  validation?: string;
  test?: string;
}

/** How to read a table of images, itself read as by `readTable`. */
export interface ImageTableOptions extends ImageOptions, Omit<ReadTableOptions, 'name'> {
  /** The column with the images' paths or names; the first by default. */
  path?: string | number;
  /** The folder in which the images lie, from the table's folder on; by default that folder itself. */
  folder?: string;
  /** The column to predict; the last by default. Several columns of numbers for several values. */
  target?: string | number | readonly string[];
  /**
   * `classes`: each distinct value is a class, in natural order. `labels`: each column is a label, 0 or 1. By default
   * numbers are `values`, all else `classes`.
   */
  targetKind?: 'values' | 'classes' | 'labels';
  /** Mean 0 and standard deviation 1 for targets that are values; false by default. */
  standardizeTargets?: boolean;
  /** The column whose value images of one group share: a group lies in one split, fold and hold-out. */
  group?: string;
  /** The splits that the table gives; those that it does not give are drawn from its training rows. */
  split?: SplitColumn;
  /**
   * Rows without a value, whose image is absent or one of several, or that contradict another row of their image:
   * `refuse` (default) or `drop`, which is noted.
   */
  unusableRows?: 'refuse' | 'drop';
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
  const files: string[] = [];
  const classes: string[] = [];
  const given = await mapInOrder(await findSplitFolders(folder, options.splitFolders), async (path) => {
    const own = await listClasses(path);
    const first = files.length;
    files.push(...own.files);
    classes.push(...own.classes);
    return { rows: Int32Array.from(own.files, (_, i) => first + i), origin: path };
  });
  const target: Column = { name: 'class', type: 'category', values: classes };
  const division = { strata: numbersOf(target), groups: null };
  const name = options.name ?? basename(folder);
  return splitsOf({ name, files, targets: [target], given, division }, { ...options, targetKind: 'classes' });
}

/**
 * Splits of images that the rows of a table name (CSV, JSON lines, Parquet), with targets of any kind: see
 * `imageFolder` and `tableSplits`. A name may lack its folder and its ending where only one image fits. An image that
 * several rows name counts once.
 * @throws Error that names the table's row or the image, and the remedy
 */
export async function imageTable(file: string, options: ImageTableOptions): Promise<Splits> {
  const { target: wanted, group: grouped, split, folder = '.' } = options;
  const table = await readTable(file, options);
  const { name } = table;
  const targets = [wanted ?? table.columns.length - 1].flat().map((own: string | number) => columnOf(table, own));
  const group = grouped === undefined ? null : columnOf(table, grouped);
  const part = split === undefined ? null : columnOf(table, split.column);
  const others = [...targets, ...(group === null ? [] : [group]), ...(part === null ? [] : [part])];
  const named = await nameImages(columnOf(table, options.path ?? 0), others, {
    folder: resolve(dirname(file), folder),
    tableFolder: dirname(file),
  });
  settleProblems(name, named.problems, options);
  const { files, rows } = named;
  const isOfClasses = (options.targetKind ?? fitTarget(name, targets, rows, options).kind) === 'classes';
  const division = {
    strata: isOfClasses && group === null ? numbersOf(targets[0]) : null,
    groups: group && numbersOf(group),
  };
  const given =
    part === null || split === undefined ? { train: { rows, origin: name } } : rowsOfSplits(name, rows, part, split);
  return splitsOf({ name, files, targets, given, division }, options);
}

/** Rows of a split that is given, and where it comes from, for messages. */
interface GivenSplit {
  rows: Int32Array;
  origin: string;
}

/** Images with their targets: those of `given.train` are divided further where a split is not given. */
interface ListedImages {
  name: string;
  /** Paths by row; null: the row is in no split. Shape `[N]`. */
  files: readonly (string | null)[];
  targets: readonly Column[];
  given: { train: GivenSplit; validation?: GivenSplit; test?: GivenSplit };
  division: Division;
}

/** Splits one after the other, so that what each notes has an order. */
async function mapInOrder<Value, Result>(
  { train, validation, test }: { train: Value; validation?: Value; test?: Value },
  map: (value: Value) => Promise<Result>,
): Promise<{ train: Result; validation?: Result; test?: Result }> {
  return {
    train: await map(train),
    ...(validation !== undefined && { validation: await map(validation) }),
    ...(test !== undefined && { test: await map(test) }),
  };
}

/** @throws Error for rows that cannot be learned from, unless they are to be left out, which is noted */
function settleProblems(table: string, problems: readonly RowProblem[], { unusableRows }: ImageTableOptions): void {
  for (const problem of problems) {
    const text = `${table}: ${rowProblemText(problem)}`;
    if (problem.reason === 'doubled') noteData(`${text}. Each image counts once.`);
    else if (unusableRows === 'drop') noteData(`${text}. These rows are left out.`);
    else throw new Error(`${text}. ${rowRemedies[problem.reason]} Or leave such rows out with unusableRows: 'drop'.`);
  }
}

/** The rows of each split, by the values of a column. */
function rowsOfSplits(table: string, rows: Int32Array, part: Column, { column, ...values }: SplitColumn) {
  const given = (split: SplitName, value: string): GivenSplit => {
    const own = rows.filter((row) => textAt(part, row) === value);
    const origin = `${table} where ${JSON.stringify(column)} is ${JSON.stringify(value)}`;
    if (own.length > 0) return { rows: own, origin };
    const found = [...new Set(Array.from(rows, (row) => textAt(part, row)))].slice(0, 5).join(', ');
    throw new Error(`No image is in the ${split} split: no row of ${origin}. The values are ${found}.`);
  };
  const { train, validation, test } = values;
  const left = rows.filter((row) => ![train, validation, test].includes(textAt(part, row))).length;
  if (left > 0) {
    const rowsAre = left === 1 ? '1 row is left out, because its' : `${left} rows are left out, because their`;
    noteData(`${table}: ${rowsAre} ${JSON.stringify(column)} is that of no split.`);
  }
  return {
    train: given('train', train),
    ...(validation !== undefined && { validation: given('validation', validation) }),
    ...(test !== undefined && { test: given('test', test) }),
  };
}

async function splitsOf(
  { name, files, targets, given, division }: ListedImages,
  options: ImageOptions & Pick<ImageTableOptions, 'targetKind' | 'standardizeTargets'>,
): Promise<Splits> {
  const { validation, test } = given;
  if (test !== undefined && options.fold !== undefined) {
    throw new Error(
      `The test split is given (${test.origin}), so the run cannot test on fold ${options.fold.index}. Leave the ` +
        'folds out, or name the split of the training images alone.',
    );
  }
  noteUnused(validation, 'validation', options);
  noteUnused(test, 'test', options);
  const drawn = divide(name, given.train.rows, division, {
    ...options,
    ...(validation !== undefined && { validation: 0 }),
    ...(test !== undefined && { test: 0 }),
  });
  const rows = {
    train: drawn.train,
    validation: validation?.rows ?? drawn.validation,
    test: test?.rows ?? drawn.test,
  };
  const target = fitTarget(name, targets, rows.train, options);
  const parts = mapEachSplit(rows, (own): SplitImages => {
    requireTrained(files, targets[0], own, target);
    return {
      files: Array.from(own, (row) => files[row] ?? ''),
      about: { ...targetsOf(name, target, targets, own), ...divisionAt(division, own) },
    };
  });
  return decodeSplits(name, parts, target, options);
}

function noteUnused(given: GivenSplit | undefined, split: 'validation' | 'test', options: ImageOptions): void {
  if (given === undefined || !options[split]) return;
  noteData(`${split}: ${options[split]} has no effect, because the images of ${given.origin} are that split.`);
}

/** @throws Error for an image of a class that the training split lacks */
function requireTrained(
  files: readonly (string | null)[],
  column: Column,
  rows: Int32Array,
  target: TargetMeaning,
): void {
  if (target.kind !== 'classes') return;
  const trained = new Set(target.classNames);
  const other = rows.find((row) => !trained.has(textAt(column, row)));
  if (other === undefined) return;
  throw new Error(
    `${files[other]} is of the class ${JSON.stringify(textAt(column, other))}, which the training split lacks.`,
  );
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

/** Images of a split, with what a data set needs beside them. */
interface SplitImages {
  files: readonly string[];
  about: Pick<Dataset, 'targets' | 'classNames' | 'groups' | 'strata'>;
}

async function decodeSplits(
  name: string,
  parts: { train: SplitImages; validation?: SplitImages; test?: SplitImages },
  target: TargetMeaning,
  options: ImageOptions,
): Promise<Splits> {
  const step = imagesStep(options);
  const findings = new ImageFindings();
  const datasetOf = async (split: string, part?: SplitImages) => {
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
