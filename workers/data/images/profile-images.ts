import { readdir } from 'node:fs/promises';
import { basename, extname, join, relative } from 'node:path';
import type { Metadata } from 'sharp';
import { dataFormatOf } from '../../../core/preprocessing/data-formats.ts';
import { imageFindings, type ImageProfile, imageSplits } from '../../../core/preprocessing/image-profile.ts';
import { orderClasses } from '../../../core/preprocessing/reading.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { withNotes } from '../notes.ts';
import { decodeImage, forEachImage, imageHead } from './decode.ts';
import { ImageFindings } from './deep-images.ts';
import { isHidden, isImage, type LabelledFiles, listClasses } from './image-files.ts';
import { findSplitFolders } from './split-folders.ts';

const mostExamples = 5;
const formatNames: Readonly<Record<string, string>> = { png: 'PNG', jpeg: 'JPEG', webp: 'WebP', tiff: 'TIFF' };

type Split = (typeof imageSplits)[number];
type Heads = Omit<ImageProfile, 'kind' | 'folder' | 'maximum' | 'splits' | 'classes' | 'leftOut' | 'findings'> & {
  likelyMaximum: number | null;
};

/**
 * What is in a folder of images: read as `imageFolder` reads it for training. Every image is decoded.
 * @throws Error that names the folder, where splits and classes cannot be told apart, or a class has no images
 */
export async function profileImages(
  folder: string,
  { maximum }: { maximum?: number | undefined } = {},
): Promise<ImageProfile> {
  // The findings say all that the notes do.
  const { result: parts } = await withNotes(() => listParts(folder));
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
  return { ...profile, findings: imageFindings(profile, likelyMaximum) };
}

async function listParts(folder: string): Promise<(LabelledFiles & { split: Split; path: string })[]> {
  const found = await findSplitFolders(folder, undefined);
  const parts = imageSplits.map(async (split) => {
    const path = found[split];
    return path === undefined ? [] : [{ split, path, ...(await listClasses(path)) }];
  });
  return (await Promise.all(parts)).flat();
}

function countClasses(parts: readonly (LabelledFiles & { split: Split })[]): ImageProfile['classes'] {
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
  const heads: (Metadata & { file: string })[] = [];
  const unreadable: ImageProfile['unreadable'] = [];
  let bytes = 0;
  await forEachImage(files, async (content, path) => {
    const file = relative(folder, path);
    bytes += content.length;
    try {
      heads.push({ ...(await imageHead(content, file)), file });
      const shape = { size: [1, 1] as const, ...(maximum !== undefined && { maximum }) };
      await decodeImage(content, file, shape, deep);
    } catch (error) {
      unreadable.push({ file, reason: messageOf(error) });
    }
  });
  const has = (isSo: (head: Metadata) => boolean): number => heads.filter(isSo).length;
  return {
    bytes,
    sizes: sizesOf(heads),
    formats: countBy(heads, ({ format }) => format),
    channels: countBy(heads, ({ channels }) => String(channels)),
    depths: countBy(heads, ({ depth }) => depth),
    largestValue: deep.hasDeep ? deep.largest : null,
    likelyMaximum: maximum === undefined ? deep.likelyMaximum : null,
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
    unreadable: unreadable.toSorted((a, b) => (a.file < b.file ? -1 : 1)).slice(0, mostExamples),
    unreadableCount: unreadable.length,
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
  if (file.split(/[\\/]/).some(isHidden)) return 'hidden';
  return isImage(file) ? 'place' : 'ending';
}
