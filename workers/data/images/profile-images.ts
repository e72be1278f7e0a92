import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import type { Metadata } from 'sharp';
import { dataFormatOf, isOfSystem } from '../../../core/preprocessing/data-formats.ts';
import { imageFindings, type ImageProfile } from '../../../core/preprocessing/image-profile.ts';
import { quoted } from '../../../core/preprocessing/column-findings.ts';
import type { Finding, ProfiledColumn, TableProfile } from '../../../core/preprocessing/profile.ts';
import { holdsClasses } from '../../../core/preprocessing/profile-findings.ts';
import { orderClasses } from '../../../core/preprocessing/reading.ts';
import { type SplitName, splitNames } from '../../../core/preprocessing/split-column.ts';
import type { ReadingOptions } from '../../../core/protocol/run/inspect-task.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { withNotes } from '../notes.ts';
import { decodeImage, forEachImage, imageHead } from './decode.ts';
import { ImageFindings } from './deep-images.ts';
import { EqualImages } from './equal-images.ts';
import { textAt } from '../tables/columns.ts';
import type { InspectedTable } from '../tables/profile-table.ts';
import { isImage, type LabelledFiles, listClasses } from './image-files.ts';
import { type NamedImages, nameImages } from './image-rows.ts';
import { recogniseSplits, type SplitDoubt, splitsOfValues } from './split-folders.ts';

const mostExamples = 5;
const formatNames: Readonly<Record<string, string>> = { png: 'PNG', jpeg: 'JPEG', webp: 'WebP', tiff: 'TIFF' };

type LeftOut = ImageProfile['leftOut'][number];
type Head = Metadata & { file: string };
type Heads = Omit<
  ImageProfile,
  'kind' | 'folder' | 'table' | 'maximum' | 'splits' | 'classes' | 'leftOut' | 'findings'
> & {
  likelyMaximum: number | null;
};

/**
 * What is in a folder of images: read as `imageFolder` reads it for training. Every image is decoded.
 * @param options the value that becomes 255 in images of more than 8 bits, and what folders are, by their names
 * @throws Error that names the folder, where a class has no images, or the maximum is not possible
 */
export async function profileImages(folder: string, options: ImageReading = {}): Promise<ImageProfile> {
  const { maximum, splitFolders = {} } = options;
  // The findings say all that the notes do.
  const { result } = await withNotes(() => listParts(folder, splitFolders));
  const { parts, doubts } = result;
  const leftOut = await findLeftOut(folder, new Set(parts.flatMap(({ files }) => files)));
  const named = parts.map((part) => ({ ...part, name: relative(folder, part.path) || '.' }));
  return profileOf(named, { folder, name: basename(folder), table: null, leftOut, maximum }, [
    ...doubts.map(splitQuestion),
    ...subfolderFindings(parts),
  ]);
}

/** Findings of a table that matter where its rows name images. */
const ofTables: ReadonlySet<Finding['kind']> = new Set([
  'encoding',
  'header',
  'comments',
  'number-format',
  'date-format',
  'misfits',
  'missing-texts',
  'spellings',
  'left-out',
  'groups',
]);

/**
 * What is in the images that a table names: found as `imageTable` finds them. Every one is decoded.
 * @param images their folder, absolute
 * @returns null where the table names none, or none of them is beside it, and the user did not say that it does
 * @throws Error where none is found though the user says so, or the values of a column cannot be those of splits
 */
export async function profileNamedImages(
  table: InspectedTable,
  { file, images: folder, isSaid, maximum, splitFolders = {} }: NamedImagesToProfile,
): Promise<ImageProfile | null> {
  const { profile, values, image, split } = table;
  const isBeside = folder === dirname(file);
  const [path, target, part] = [image, profile.target?.name, split].map((own) =>
    values.find(({ name }) => name === own),
  );
  const named =
    path &&
    (await nameImages(
      path,
      [target, part].filter((own) => own !== undefined),
      { folder, tableFolder: isBeside ? folder : dirname(folder) },
    ));
  if (path === undefined || named === undefined || named.files.every((own) => own === null)) {
    if (isBeside && !isSaid) return null;
    throw new Error(whyNoImages(table, folder));
  }
  const { files, problems } = named;
  const labels = target === undefined || !holdsClassesIn(profile) ? null : target;
  const { parts, doubts } = partsOfTable(named, { part, labels }, splitFolders);
  const all = new Set(files.filter((own) => own !== null));
  const about = {
    folder,
    name: isBeside ? 'images' : basename(folder),
    table: {
      profile: { ...profile, time: null, split: null, findings: [] },
      column: path.name,
      splitColumn: split,
      folders: topFolders(folder, all),
      problems,
    },
    leftOut: await findUnnamed(folder, all),
    maximum,
  };
  return profileOf(parts, about, [...doubts, ...profile.findings.filter(({ kind }) => ofTables.has(kind))]);
}

interface NamedImagesToProfile extends ImageReading {
  /** The table. */
  file: string;
  images: string;
  /** Whether the user says which column names images. */
  isSaid: boolean;
}

function whyNoImages({ profile: { reading, columns }, image }: InspectedTable, folder: string): string {
  if (image === null)
    return `No column of ${reading.file} names images. Say which one does: --image, or the role image.`;
  const [example] = columns.find(({ name }) => name === image)?.examples ?? [];
  return (
    `${folder} has no image that ${JSON.stringify(image)} of ${reading.file} names, such as ${JSON.stringify(example)}. ` +
    'Give the folder in which they lie: --images, or the field on the page.'
  );
}

function holdsClassesIn({ columns, target }: TableProfile): boolean {
  const own = columns.find(({ name }) => name === target?.name);
  return own !== undefined && holdsClasses(own);
}

/** The folders in which files lie, directly or not; `.`: the whole folder itself. */
function topFolders(folder: string, files: ReadonlySet<string>): string[] {
  const parts = [...files].map((file) => relative(folder, file).split(sep));
  return [...new Set(parts.map((own) => (own.length === 1 ? '.' : own[0])))].toSorted();
}

/** Images by the values of the column of splits, with their labels; all train without such a column. */
function partsOfTable(
  { files, rows }: NamedImages,
  { part, labels }: { part: ProfiledColumn | undefined; labels: ProfiledColumn | null },
  answers: SplitAnswers,
) {
  const imagesOf = (own: readonly number[]) => ({
    files: own.map((row) => files[row] ?? ''),
    classes: labels === null ? [] : own.map((row) => textAt(labels, row)),
  });
  if (part === undefined) {
    return { parts: [{ split: 'train' as const, name: '.', ...imagesOf([...rows]) }], doubts: [] };
  }
  const byValue = Map.groupBy(rows, (row) => textAt(part, row));
  const { found, doubts } = splitsOfValues(part.name, orderClasses(byValue.keys()), answers);
  const parts = splitNames.flatMap((split) => {
    const name = found[split];
    return name === undefined ? [] : [{ split, name, ...imagesOf(byValue.get(name) ?? []) }];
  });
  const questions = doubts.map(({ folder: value, fact, choices }): Finding => {
    const message = `${fact} Which split is it, if any?`;
    const option = `split: { column: ${quoted(part.name)}, ${choices[0] === 'none' ? 'train' : choices[0]}: ${quoted(value)}, ... }`;
    return { level: 'question', kind: 'splits', column: value, message, choices, option };
  });
  return { parts, doubts: questions };
}

type ImageReading = Pick<ReadingOptions, 'maximum' | 'splitFolders'>;
type SplitAnswers = NonNullable<ReadingOptions['splitFolders']>;

interface AboutImages extends Pick<ImageProfile, 'table' | 'leftOut'> {
  folder: string;
  /** The folder's name in the profile. */
  name: string;
  maximum: number | undefined;
}

/** @param others findings beside those of the images */
async function profileOf(
  parts: readonly (LabelledFiles & { split: SplitName; name: string })[],
  { folder, name, table, leftOut, maximum }: AboutImages,
  others: readonly Finding[],
): Promise<ImageProfile> {
  const listed = parts.flatMap(({ files }) => files);
  const equal = new EqualImages();
  const { likelyMaximum, ...heads } = await readHeads(folder, listed, { maximum, equal });
  const places = parts.flatMap(({ split, files, classes }) =>
    files.map((file, i) => ({ file: relative(folder, file), split, label: classes[i] ?? null })),
  );
  const profile = {
    kind: 'images' as const,
    folder: name,
    table,
    maximum: maximum ?? null,
    ...heads,
    splits: parts.map((part) => ({ split: part.split, folder: part.name, images: part.files.length })),
    classes: countClasses(parts),
    leftOut,
  };
  return { ...profile, findings: imageFindings(profile, likelyMaximum, [...others, ...equal.findings(places)]) };
}

/** A choice settles each: as an option of `imageFolder`, or a flag. */
function splitQuestion({ folder, fact, choices }: SplitDoubt): Finding {
  const message = `${fact} Which split is ${folder}, if any?`;
  const option = `splitFolders: { ${choices[0] === 'none' ? 'train' : choices[0]}: '${folder}', ... }`;
  return { level: 'question', kind: 'splits', column: folder, message, choices, option };
}

/** Folders in the folder of a class, which may have been meant as classes of their own. */
function subfolderFindings(parts: readonly (LabelledFiles & { path: string })[]): Finding[] {
  const inner = parts.flatMap(({ path, files }) =>
    files.map((file) => relative(path, file).split(sep)).filter(({ length }) => length > 2),
  );
  const folders = Map.groupBy(inner, ([outer]) => outer);
  if (folders.size === 0) return [];
  const shown = [...folders].slice(0, mostExamples).map(([name, paths]) => {
    const own = [...new Set(paths.map(([, folder]) => folder))];
    return `${name} (${own.slice(0, mostExamples).join(', ')}${own.length > mostExamples ? ', ...' : ''})`;
  });
  const message =
    `Classes have folders of their own: ${shown.join('; ')}. All images below a class are of this class; where the ` +
    'inner folders are the classes, move them up.';
  return [{ level: 'warning', kind: 'subfolders', column: null, message, choices: null, option: null }];
}

async function listParts(folder: string, answers: SplitAnswers) {
  const { found, doubts } = await recogniseSplits(folder, answers);
  const parts = splitNames.map(async (split) => {
    const path = found[split];
    return path === undefined ? [] : [{ split, path, ...(await listClasses(path)) }];
  });
  return { parts: (await Promise.all(parts)).flat(), doubts };
}

function countClasses(parts: readonly (LabelledFiles & { split: SplitName })[]): ImageProfile['classes'] {
  const classes = new Map(
    orderClasses(parts.flatMap((part) => part.classes)).map((name) => [name, { train: 0, validation: 0, test: 0 }]),
  );
  for (const { split, classes: own } of parts) {
    for (const name of own) {
      const counts = classes.get(name);
      if (counts !== undefined) counts[split]++;
    }
  }
  return [...classes].map(([name, counts]) => ({ name, ...counts }));
}

async function readHeads(
  folder: string,
  files: readonly string[],
  { maximum, equal }: { maximum: number | undefined; equal: EqualImages },
): Promise<Heads> {
  const deep = new ImageFindings();
  const heads: Head[] = [];
  const unreadable: ImageProfile['unreadable'] = [];
  let bytes = 0;
  await forEachImage(files, async (content, path) => {
    const file = relative(folder, path);
    bytes += content.length;
    equal.add(file, content);
    try {
      const head = await imageHead(content, file);
      heads.push({ ...head, file });
      // 16 bits are read without the maximum too, so that one that is too small is told from damage.
      const needsMaximum = maximum !== undefined && !['uchar', 'ushort'].includes(head.depth);
      await decodeImage(content, file, { size: [1, 1], ...(needsMaximum && { maximum }) }, deep);
    } catch (error) {
      unreadable.push({ file, reason: messageOf(error) });
    }
  });
  const areAllPlain = heads.length > 0 && heads.every(({ depth }) => depth === 'uchar');
  if (maximum !== undefined && (deep.hasDeep || areAllPlain)) deep.requirePossible(basename(folder), maximum);
  return {
    bytes,
    ...propertiesOf(heads),
    largestValue: deep.hasDeep ? deep.largest : null,
    likelyMaximum: maximum === undefined ? deep.likelyMaximum : null,
    unreadable: unreadable.toSorted((a, b) => (a.file < b.file ? -1 : 1)).slice(0, mostExamples),
    unreadableCount: unreadable.length,
  };
}

function propertiesOf(heads: readonly Head[]) {
  const has = (isSo: (head: Metadata) => boolean): number => heads.filter(isSo).length;
  return {
    sizes: sizesOf(heads),
    formats: countBy(heads, ({ format }) => format),
    channels: countBy(heads, ({ channels }) => String(channels)),
    depths: countBy(heads, ({ depth }) => depth),
    cmyk: has(({ space }) => space === 'cmyk'),
    alpha: has(({ hasAlpha }) => hasAlpha),
    palette: has(({ isPalette }) => isPalette),
    turned: has(({ orientation = 1 }) => orientation > 1),
    paged: has(({ pages = 1 }) => pages > 1),
    misnamed: heads
      .filter(({ file, format }) => formatNames[format] !== dataFormatOf(file)?.name)
      .map(({ file, format }) => `${file} (${format})`)
      .toSorted()
      .slice(0, mostExamples),
  };
}

/** By the count of pixels. */
function sizesOf(heads: readonly Metadata[]): ImageProfile['sizes'] {
  if (heads.length === 0) return null;
  const sizes = heads
    .map(({ height, width, orientation = 1 }): [number, number] =>
      orientation > 4 ? [width, height] : [height, width],
    )
    .toSorted((a, b) => a[0] * a[1] - b[0] * b[1] || a[0] - b[0]);
  const median = sizes[Math.floor((sizes.length - 1) / 2)];
  const distinct = new Set(sizes.map(String)).size;
  return { smallest: sizes[0], median, largest: sizes[sizes.length - 1], distinct };
}

function countBy(heads: readonly Metadata[], keyOf: (head: Metadata) => string): Record<string, number> {
  const counts = [...Map.groupBy(heads, keyOf)].map(([key, { length }]): [string, number] => [key, length]);
  return Object.fromEntries(counts.toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)));
}

/** Every file below the folder that is not read. */
async function findLeftOut(folder: string, read: ReadonlySet<string>): Promise<LeftOut[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory() && !read.has(join(entry.parentPath, entry.name)))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
    .map((file) => ({ file, reason: reasonOf(file) }));
  return grouped(files);
}

/** Images beside those that rows name. */
async function findUnnamed(folder: string, named: ReadonlySet<string>): Promise<LeftOut[]> {
  const folders = [...new Set([...named].map(dirname))];
  const entries = await Promise.all(folders.map((own) => readdir(own, { withFileTypes: true })));
  const images = entries
    .flat()
    .filter((entry) => entry.isFile() && isImage(entry.name) && !isOfSystem(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !named.has(path))
    .map((path) => relative(folder, path))
    .toSorted();
  return grouped(images.map((file) => ({ file, reason: 'row' as const })));
}

function grouped(files: readonly { file: string; reason: LeftOut['reason'] }[]): LeftOut[] {
  const left = files.map((own) => ({ ...own, ending: extname(own.file).toLowerCase() || 'without an ending' }));
  return [...Map.groupBy(left, ({ ending, reason }) => `${reason} ${ending}`).values()].map((group) => {
    const [{ ending, reason }] = group;
    return { ending, reason, count: group.length, examples: group.slice(0, mostExamples).map(({ file }) => file) };
  });
}

function reasonOf(file: string): LeftOut['reason'] {
  if (file.split(/[\\/]/).some(isOfSystem)) return 'hidden';
  return isImage(file) ? 'place' : 'ending';
}
