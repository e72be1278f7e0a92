import { readdir } from 'node:fs/promises';
import { basename, extname, join, relative } from 'node:path';
import type { Metadata } from 'sharp';
import { dataFormatOf, isOfSystem } from '../../../core/preprocessing/data-formats.ts';
import {
  imageFindings,
  type ImageProfile,
  type ImageSplit,
  imageSplits,
} from '../../../core/preprocessing/image-profile.ts';
import type { Finding } from '../../../core/preprocessing/profile.ts';
import { orderClasses } from '../../../core/preprocessing/reading.ts';
import type { ReadingOptions } from '../../../core/protocol/run/inspect-task.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { withNotes } from '../notes.ts';
import { decodeImage, forEachImage, imageHead } from './decode.ts';
import { ImageFindings } from './deep-images.ts';
import { isImage, type LabelledFiles, listClasses } from './image-files.ts';
import { recogniseSplits, type SplitDoubt } from './split-folders.ts';

const mostExamples = 5;
const formatNames: Readonly<Record<string, string>> = { png: 'PNG', jpeg: 'JPEG', webp: 'WebP', tiff: 'TIFF' };

type Head = Metadata & { file: string };
type Heads = Omit<ImageProfile, 'kind' | 'folder' | 'maximum' | 'splits' | 'classes' | 'leftOut' | 'findings'> & {
  likelyMaximum: number | null;
};

/**
 * What is in a folder of images: read as `imageFolder` reads it for training. Every image is decoded.
 * @param options the value that becomes 255 in images of more than 8 bits, and what folders are, by their names
 * @throws Error that names the folder, where a class has no images, or the maximum is not possible
 */
export async function profileImages(
  folder: string,
  options: Pick<ReadingOptions, 'maximum' | 'splitFolders'> = {},
): Promise<ImageProfile> {
  const { maximum, splitFolders = {} } = options;
  // The findings say all that the notes do.
  const { result } = await withNotes(() => listParts(folder, splitFolders));
  const { parts, doubts } = result;
  const listed = parts.flatMap(({ files }) => files);
  const { likelyMaximum, ...heads } = await readHeads(folder, listed, maximum);
  const profile = {
    kind: 'images' as const,
    folder: basename(folder),
    maximum: maximum ?? null,
    ...heads,
    splits: parts.map(({ split, path, files }) => {
      return { split, folder: relative(folder, path) || '.', images: files.length };
    }),
    classes: countClasses(parts),
    leftOut: await findLeftOut(folder, new Set(listed)),
  };
  return { ...profile, findings: [...doubts.map(splitQuestion), ...imageFindings(profile, likelyMaximum)] };
}

/** A choice settles each: as an option of `imageFolder`, or a flag. */
function splitQuestion({ folder, fact, choices }: SplitDoubt): Finding {
  const message = `${fact} Which split is ${folder}, if any?`;
  const option = `splitFolders: { ${choices[0] === 'none' ? 'train' : choices[0]}: '${folder}', ... }`;
  return { level: 'question', kind: 'splits', column: folder, message, choices, option };
}

async function listParts(folder: string, answers: NonNullable<ReadingOptions['splitFolders']>) {
  const { found, doubts } = await recogniseSplits(folder, answers);
  const parts = imageSplits.map(async (split) => {
    const path = found[split];
    return path === undefined ? [] : [{ split, path, ...(await listClasses(path)) }];
  });
  return { parts: (await Promise.all(parts)).flat(), doubts };
}

function countClasses(parts: readonly (LabelledFiles & { split: ImageSplit })[]): ImageProfile['classes'] {
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

async function readHeads(folder: string, files: readonly string[], maximum: number | undefined): Promise<Heads> {
  const deep = new ImageFindings();
  const heads: Head[] = [];
  const unreadable: ImageProfile['unreadable'] = [];
  let bytes = 0;
  await forEachImage(files, async (content, path) => {
    const file = relative(folder, path);
    bytes += content.length;
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
async function findLeftOut(folder: string, read: ReadonlySet<string>): Promise<ImageProfile['leftOut']> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const left = entries
    .filter((entry) => !entry.isDirectory() && !read.has(join(entry.parentPath, entry.name)))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
    .map((file) => ({ file, ending: extname(file).toLowerCase() || 'without an ending', reason: reasonOf(file) }));
  return [...Map.groupBy(left, ({ ending, reason }) => `${reason} ${ending}`).values()].map((group) => {
    const [{ ending, reason }] = group;
    return { ending, reason, count: group.length, examples: group.slice(0, mostExamples).map(({ file }) => file) };
  });
}

function reasonOf(file: string): ImageProfile['leftOut'][number]['reason'] {
  if (file.split(/[\\/]/).some(isOfSystem)) return 'hidden';
  return isImage(file) ? 'place' : 'ending';
}
