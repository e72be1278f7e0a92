import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { imageFolder, type ImageFolderOptions } from '../../../../workers/data/images/image-splits.ts';
import { listImages } from '../../../../workers/data/images/image-files.ts';
import { withNotes } from '../../../../workers/data/notes.ts';
import { temporaryFolder } from '../temp-folder.ts';

const grey = (value: number) =>
  sharp(Buffer.of(value, value, value), { raw: { width: 1, height: 1, channels: 3 } })
    .png()
    .toBuffer();

/** A folder with these files: images of one pixel, or a few bytes where the ending is not `.png`. */
async function folderOf(...paths: string[]): Promise<string> {
  const folder = await temporaryFolder();
  for (const [i, path] of paths.entries()) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), path.endsWith('.png') ? await grey(i) : 'GIF89a');
  }
  return folder;
}

const images = (count: number, ...folders: string[]) =>
  folders.flatMap((folder) => Array.from({ length: count }, (_, i) => `${folder}/${i}.png`));

async function read(folder: string, options: Partial<ImageFolderOptions> = {}) {
  const { result, notes } = await withNotes(() => imageFolder(folder, { size: [1, 1], seed: 1, ...options }));
  return { ...result, notes: notes.map((note) => note.replaceAll(folder, 'd')) };
}

describe('the folders of splits', () => {
  it.each([
    [
      ['Training', 'Testing'],
      ['train', 'test'],
    ],
    [
      ['TRAIN', 'valid'],
      ['train', 'validation'],
    ],
    [
      ['train_set', 'val-images', 'Test Set'],
      ['train', 'validation', 'test'],
    ],
    [
      ['train', 'dev', 'testing'],
      ['train', 'validation', 'test'],
    ],
  ])('are recognised as %j, and noted', async (folders, splits) => {
    const found = await read(await folderOf(...folders.flatMap((name) => images(2, `${name}/cat`, `${name}/dog`))));
    expect(found.train.classNames).toEqual(['cat', 'dog']);
    for (const split of ['validation', 'test'] as const) {
      expect(found[split]?.length).toBe(splits.includes(split) ? 4 : undefined);
    }
    const named = folders.map((name, i) => `${name} (${splits[i]})`).toSorted();
    expect(found.notes).toEqual([`The splits of d are its folders ${named.join(', ')}.`]);
  });

  it('are not those of a class called "train"', async () => {
    const plain = await read(await folderOf(...images(2, 'bus', 'car', 'train')));
    expect(plain.train.classNames).toEqual(['bus', 'car', 'train']);
    const nested = await read(await folderOf(...images(2, 'bus', 'car', 'train', 'train/steam')));
    expect(nested.train.classNames).toEqual(['bus', 'car', 'train']);
    const control = await read(await folderOf(...images(2, 'control', 'test')));
    expect(control.train.classNames).toEqual(['control', 'test']);
    expect([plain, nested, control].flatMap(({ notes }) => notes)).toEqual([]);
  });

  it('are asked for where both readings are possible', async () => {
    const either = await folderOf(...images(2, 'train/cat', 'train/dog', 'unlabelled'));
    await expect(read(either)).rejects.toThrow(
      'has train, which looks like a split, beside unlabelled. Name the splits with splitFolders: { train: ' +
        "'train', ... }, or set splitFolders: false",
    );
    expect((await read(either, { splitFolders: { train: 'train' } })).train.classNames).toEqual(['cat', 'dog']);
    expect((await read(either, { splitFolders: false })).train.classNames).toEqual(['train', 'unlabelled']);
    const twice = await folderOf(...images(2, 'train/cat', 'val/cat', 'valid/cat'));
    await expect(read(twice)).rejects.toThrow('has val, valid, which all mean the validation split.');
    const flat = await folderOf(...images(2, 'train', 'test'));
    await expect(read(flat)).rejects.toThrow('train has no subfolders, and its name is that of a split');
    expect((await read(flat, { splitFolders: false })).train.classNames).toEqual(['test', 'train']);
    await expect(read(flat, { splitFolders: { train: 'Train' } })).rejects.toThrow(
      'has no subfolder "Train", which splitFolders names. It has: test, train.',
    );
  });

  it('may have names of any language, and other folders beside them', async () => {
    const spanish = await folderOf(
      ...images(2, 'Entrenamiento/gato', 'Entrenamiento/perro', 'Prueba/gato', 'Prueba/perro'),
    );
    const unnamed = await read(spanish);
    expect(unnamed.train.classNames).toEqual(['Entrenamiento', 'Prueba']);
    expect(unnamed.notes).toEqual([
      'The classes of d are Entrenamiento, Prueba. All have the same subfolders (gato, perro): if these are the ' +
        "classes, name the splits with splitFolders: { train: 'Entrenamiento', ... }.",
    ]);
    const named = await read(spanish, { splitFolders: { train: 'Entrenamiento', test: 'Prueba' } });
    expect([named.train.classNames, named.test?.length, named.notes]).toEqual([['gato', 'perro'], 4, []]);
    const more = await read(await folderOf(...images(2, 'train/cat', 'test/cat', 'train/dog', 'unlabelled')));
    expect(more.notes).toEqual(['The splits of d are its folders test (test), train (train); unlabelled is left out.']);
  });

  it('draw what has no folder from the training images, and say what has no effect', async () => {
    const folder = await folderOf(...images(10, 'train/cat', 'train/dog'), ...images(2, 'test/cat', 'test/dog'));
    const { train, validation, test, notes } = await read(folder, { validation: 0.2, test: 0.2 });
    expect([train.length, validation?.length, test?.length]).toEqual([16, 4, 4]);
    expect(notes).toContain('test: 0.2 has no effect, because the images of d/test are that split.');
    await expect(read(folder, { fold: { index: 1, count: 5 } })).rejects.toThrow(
      /The test split is given \(.*test\), so the run cannot test on fold 1. Leave the folds out/,
    );
  });
});

describe('files that are left out', () => {
  it('are counted by their endings and named', async () => {
    const folder = await folderOf(
      ...images(3, 'a', 'b'),
      'b/0.bmp',
      'b/1.gif',
      'b/2.BMP',
      'b/notes',
      'b/.hidden.gif',
      'b/more/3.gif',
      '4.png',
      'read.me',
    );
    const { train, notes } = await read(folder);
    expect(train.length).toBe(6);
    expect(notes).toEqual([
      'Files of d that are left out, because only PNG, JPEG, WebP and TIFF are read: 2 .bmp, 2 .gif, 1 without ' +
        'an ending (b/0.bmp, b/1.gif, b/2.BMP, ...). ' +
        'Convert those that are images.',
      'Images of d that lie beside the folders of the classes are left out: 1 (4.png). Move them into one.',
    ]);
    const { result, notes: others } = await withNotes(() => listImages(join(folder, 'b')));
    expect([result.length, others.length]).toEqual([3, 1]);
    const none = await folderOf('a/0.png', 'b/0.bmp', 'b/1.bmp');
    await expect(read(none)).rejects.toThrow(/b has no images \(\.png, .*\), but 2 \.bmp\. Remove the folder/);
  });
});
