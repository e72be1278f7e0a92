import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { fileProfileSchema } from '../../core/protocol/run/inspect-task.ts';
import { predictRun } from '../../src-main/predictions/predict-run.ts';
import { tiff } from '../unit/data/images/tiff.ts';
import { runCommand } from './damages/run-command.ts';
import { train, useHub } from './harness.ts';

const { hub, home } = useHub();

type Content = string | Buffer | Promise<Buffer>;

/** An image of 8 × 8 pixels of one colour. */
const image = (grey = 90) => sharp(Buffer.alloc(8 * 8 * 3, grey), { raw: { width: 8, height: 8, channels: 3 } });
const png = (grey?: number) => image(grey).png().toBuffer();

/** So many images in a folder: `0.png`, `1.png`, ... */
const images = (folder: string, count: number, make: (i: number) => Content = (i) => png(i)): [string, Content][] =>
  Array.from({ length: count }, (_, i) => [`${folder}/${i}.png`, make(i)]);
const each = (folders: string[], count: number): [string, Content][] => folders.flatMap((own) => images(own, count));

async function writeTree(name: string, files: readonly [string, Content][]): Promise<string> {
  const folder = join(home(), name);
  for (const [path, content] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), await content);
  }
  return folder;
}

/** Folders as people and archives have them: what must be in the project's code, and what is said. */
const trees: Record<string, { files: [string, Content][]; flags?: string[]; code: string[]; says?: string[] }> = {
  'a class called train': {
    files: each(['bus', 'car', 'train'], 10),
    code: ['splitFolders: false', 'validation: 0.2', 'test: 0.2', "description: 'The class of an image, one of 3.'"],
  },
  'splits in other words': {
    files: each(['Training/cat', 'Training/dog', 'Testing/cat', 'Testing/dog'], 10),
    code: ["splitFolders: { train: 'Training', test: 'Testing' }", 'validation: 0.2'],
  },
  'files that are no images that are read': {
    files: [
      ...each(['a'], 10),
      ...each(['b'], 2),
      ...[0, 2, 4, 6].map((i): [string, Content] => [`b/x${i}.gif`, 'GIF89a']),
      ...[1, 3, 5, 7].map((i): [string, Content] => [`b/x${i}.bmp`, 'BM']),
    ],
    code: ['splitFolders: false'],
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
    code: ["splitFolders: { train: 'seg_train/seg_train', test: 'seg_test/seg_test' }"],
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
    code: ["splitFolders: { train: 'train', validation: 'val', test: 'test' }"],
    says: ['18 .png (in no folder of a class: chest_xray/test/NORMAL/0.png'],
  },
  'a competition whose test has no labels': {
    files: [...each(['train/oat', 'train/rye'], 10), ...each(['test'], 4)],
    code: ["splitFolders: { train: 'train' }", 'test: 0.2'],
    says: ['4 .png (in no folder of a class: test/0.png'],
  },
  'splits in another language, with flags': {
    files: each(['Entrenamiento/gato', 'Entrenamiento/perro', 'Prueba/gato', 'Prueba/perro'], 10),
    flags: ['--split-folder', 'Entrenamiento=train', '--split-folder', 'Prueba=test'],
    code: ["splitFolders: { train: 'Entrenamiento', test: 'Prueba' }"],
  },
  'twelve bits in files of sixteen, with the flag': {
    files: [0, 1, 2].flatMap((i): [string, Content][] => [
      [`dark/${i}.tif`, tiff(Uint16Array.of(100 + i))],
      [`light/${i}.tif`, tiff(Uint16Array.of(4000 + i))],
    ]),
    flags: ['--maximum', '4095'],
    code: ['maximum: 4095', 'channels: 1'],
  },
};

it.each(Object.keys(trees))('create --from writes the options of %s', async (name) => {
  const { files, flags = [], code: lines, says = [] } = trees[name];
  const own = name.replaceAll(/\W+/g, '-');
  const folder = await writeTree(join('data', own), files);
  const project = join(home(), own);
  const { code, output } = await runCommand(['create', project, '--from', folder, ...flags]);
  expect([code, output]).toEqual([0, expect.stringContaining('which is trusted')]);
  const source = await readFile(join(project, 'project.ts'), 'utf8');
  for (const line of lines) expect(source).toContain(line);
  for (const text of says) expect(output).toContain(text);
});

it('what can be understood in two ways is refused without a terminal, with the flag that settles it', async () => {
  const deep = await writeTree('deep', [
    ['dark/0.tif', tiff(Uint16Array.of(100))],
    ['light/0.tif', tiff(Uint16Array.of(4000))],
  ]);
  const bits = await runCommand(['create', join(home(), 'bits'), '--from', deep]);
  expect(bits.code).toBe(2);
  expect(bits.output).toContain('none is above 4000 of 65535');
  expect(bits.output).toContain('Say so with --maximum.');
  const near = await writeTree('near', each(['trian/a', 'trian/b', 'val_data/a', 'val_data/b'], 1));
  const splits = await runCommand(['create', join(home(), 'splits'), '--from', near]);
  expect(splits.code).toBe(2);
  expect(splits.output).toContain('Which split is trian, if any?');
  expect(splits.output).toContain('Say so with --split-folder name=train');
});

it('classes have the order 1, 2, ... 12', async () => {
  const names = Array.from({ length: 12 }, (_, i) => String(i + 1));
  const { output } = await runCommand(['inspect', await writeTree('numbers', each(names, 1)), '--json']);
  const profile = fileProfileSchema.parse(JSON.parse(output));
  expect(profile.kind === 'images' && profile.classes.map(({ name }) => name)).toEqual(names);
});

it('a project from a folder of images trains, and predicts images', async () => {
  const folder = await writeTree(
    'shades',
    ['train', 'test'].flatMap((split) => [
      ...images(`seg_${split}/seg_${split}/dark`, 12, (i) => png(20 + i)),
      ...images(`seg_${split}/seg_${split}/light`, 12, (i) => png(200 + i)),
    ]),
  );
  const project = join(home(), 'from-images');
  const refused = await runCommand(['create', project, '--from', folder, '--target', 'x']);
  expect([refused.code, refused.output]).toEqual([
    2,
    expect.stringContaining('--target: a flag of tables, and this is a folder of images'),
  ]);
  const { code, output } = await runCommand(['create', project, '--from', folder]);
  expect([code, output]).toEqual([0, expect.stringContaining('which is trusted')]);
  const { record, folder: run } = await train(hub(), project, { members: 2, maxEpochs: 1 });
  expect([record.error, record.status]).toEqual([null, 'finished']);
  const input = join(folder, 'seg_test', 'seg_test', 'dark');
  const predicted = join(run, 'predicted.csv');
  const report = await predictRun({ folder: run, input, output: predicted, format: 'csv', set: 'final' });
  expect(report.rows).toBe(12);
});
