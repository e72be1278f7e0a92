import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { tiff } from '../unit/data/images/tiff.ts';

export type Content = string | Buffer | Promise<Buffer>;

/** An image of 8 × 8 pixels of one colour. */
const image = (grey = 90) => sharp(Buffer.alloc(8 * 8 * 3, grey), { raw: { width: 8, height: 8, channels: 3 } });
export const png = (grey?: number) => image(grey).png().toBuffer();

/** So many images in a folder: `0.png`, `1.png`, ... */
export const images = (
  folder: string,
  count: number,
  make: (i: number) => Content = (i) => png(i),
): [string, Content][] => Array.from({ length: count }, (_, i) => [`${folder}/${i}.png`, make(i)]);
export const each = (folders: string[], count: number): [string, Content][] =>
  folders.flatMap((own) => images(own, count));

/** Writes files by their paths in a folder. */
export async function writeFiles(folder: string, files: readonly [string, Content][]): Promise<void> {
  for (const [path, content] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), await content);
  }
}

/** A folder, and what is found in it, asked about it and written of it. */
export interface TreeCase {
  files: [string, Content][];
  /** The questions, with what a person answers on the page: `kind folder`, choice. */
  asks?: [question: string, choice: string][];
  /** The flags that answer in a terminal. */
  flags?: string[];
  /** The classes in their order, where it matters. */
  classes?: string[];
  /** Parts of the findings. */
  says?: string[];
  writes: string[];
}

const numbers = Array.from({ length: 12 }, (_, i) => String(i + 1));

/** Folders as people and archives have them. */
export const imageTrees: Record<string, TreeCase> = {
  'a class called train': {
    files: each(['bus', 'car', 'train'], 10),
    writes: ['splitFolders: false', 'validation: 0.2', 'test: 0.2', "description: 'The class of an image, one of 3.'"],
  },
  'splits in other words': {
    files: each(['Training/cat', 'Training/dog', 'Testing/cat', 'Testing/dog'], 10),
    writes: ["splitFolders: { train: 'Training', test: 'Testing' }", 'validation: 0.2'],
  },
  'files that are no images that are read': {
    files: [
      ...each(['a'], 10),
      ...each(['b'], 2),
      ...[0, 2, 4, 6].map((i): [string, Content] => [`b/x${i}.gif`, 'GIF89a']),
      ...[1, 3, 5, 7].map((i): [string, Content] => [`b/x${i}.bmp`, 'BM']),
    ],
    writes: ['splitFolders: false'],
    says: ['4 .bmp (no format that is read: b/x1.bmp', '4 .gif (no format that is read: b/x0.gif', 'to train on: "b"'],
  },
  'an archive of scenes, with what systems leave in one': {
    files: [
      ...each(['seg_train/seg_train/sea', 'seg_train/seg_train/street', 'seg_test/seg_test/sea'], 10),
      ...each(['seg_test/seg_test/street'], 10),
      ['seg_train/seg_train/sea/photo.jpg', image().webp().toBuffer()],
      ['seg_train/seg_train/sea/._1.jpg', 'resource'],
      ['seg_train/seg_train/Thumbs.db', 'thumbs'],
      ['__MACOSX/seg_train/._sea', 'resource'],
      ...each(['seg_pred/seg_pred'], 3),
    ],
    writes: ["splitFolders: { train: 'seg_train/seg_train', test: 'seg_test/seg_test' }"],
    says: ['3 .png (in no folder of a class: seg_pred/seg_pred/0.png', "1 .db (the system's own"],
  },
  'an archive in which the whole lies twice': {
    files: ['', 'chest_xray/'].flatMap((outer) =>
      ['train', 'val', 'test'].flatMap((split) =>
        each(
          ['NORMAL', 'PNEUMONIA'].map((own) => `${outer}${split}/${own}`),
          3,
        ),
      ),
    ),
    writes: ["splitFolders: { train: 'train', validation: 'val', test: 'test' }"],
    says: ['18 .png (in no folder of a class: chest_xray/test/NORMAL/0.png'],
  },
  'a competition whose test has no labels': {
    files: [...each(['train/oat', 'train/rye'], 10), ...each(['test'], 4)],
    writes: ["splitFolders: { train: 'train' }", 'test: 0.2'],
    says: ['4 .png (in no folder of a class: test/0.png'],
  },
  'splits in another language': {
    files: each(['Entrenamiento/gato', 'Entrenamiento/perro', 'Prueba/gato', 'Prueba/perro'], 10),
    asks: [
      ['splits Entrenamiento', 'train'],
      ['splits Prueba', 'test'],
    ],
    flags: ['--split-folder', 'Entrenamiento=train', '--split-folder', 'Prueba=test'],
    writes: ["splitFolders: { train: 'Entrenamiento', test: 'Prueba' }"],
  },
  'twelve bits in files of sixteen': {
    files: [0, 1, 2].flatMap((i): [string, Content][] => [
      [`dark/${i}.tif`, tiff(Uint16Array.of(100 + i))],
      [`light/${i}.tif`, tiff(Uint16Array.of(4000 + i))],
    ]),
    asks: [['depth null', '4095']],
    flags: ['--maximum', '4095'],
    writes: ['maximum: 4095', 'channels: 1'],
  },
  'classes that are numbers': {
    files: each(numbers, 8),
    classes: numbers,
    writes: ["description: 'The class of an image, one of 12.'"],
  },
};
