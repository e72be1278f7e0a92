import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
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

describe('a table of images', () => {
  /** Dark and light images in two folders, with their kind, brightness and split. */
  const writeTable = (name: string): Promise<string> =>
    writeTree(name, [
      ...images('photos/part_1', 20, (i) => png(20 + i)),
      ...images('photos/part_2', 20, (i) => png(180 + i)).map(([path, content]): [string, Content] => [
        path.replace(/(\d+)\.png$/, 'light-$1.png'),
        content,
      ]),
      [
        'labels.csv',
        [
          'photo,kind,grey,part',
          ...Array.from({ length: 20 }, (_, i) => `${i},dark,${20 + i},${i < 15 ? 'train' : 'test'}`),
          ...Array.from({ length: 20 }, (_, i) => `light-${i},light,${180 + i},${i < 15 ? 'train' : 'test'}`),
          'gone,light,180,train',
        ].join('\n'),
      ],
    ]);
  const roles = ['--column', 'photo=image'];

  it('becomes a project that classifies, with the splits of a column, and predicts a folder', async () => {
    const folder = await writeTable('kinds');
    const project = join(home(), 'from-kinds');
    const flags = ['--from', join(folder, 'labels.csv'), '--target', 'kind', ...roles, '--column', 'grey=ignore'];
    const { code, output } = await runCommand(['create', project, ...flags]);
    expect([code, output]).toEqual([0, expect.stringContaining('which is trusted')]);
    expect(output).toContain('1 row names an image that is not there ("gone" in row 41). Left out.');
    const source = await readFile(join(project, 'project.ts'), 'utf8');
    for (const line of [
      "imageTable(join(import.meta.dirname, 'labels.csv'), {",
      "path: 'photo',",
      "folder: 'images',",
      "target: 'kind',",
      "targetKind: 'classes',",
      "split: { column: 'part', train: 'train', test: 'test' },",
      "unusableRows: 'drop',",
      'validation: 0.2,',
    ]) {
      expect(source).toContain(line);
    }
    expect(source).not.toContain('test: 0.2');
    const { record, folder: run } = await train(hub(), project, { members: 2, maxEpochs: 1 });
    expect([record.error, record.status]).toEqual([null, 'finished']);
    const predicted = join(run, 'predicted.csv');
    const input = join(folder, 'photos', 'part_1');
    expect((await predictRun({ folder: run, input, output: predicted, format: 'csv', set: 'final' })).rows).toBe(20);
    expect((await readFile(predicted, 'utf8')).split('\n')[0]).toContain('probability_light');
  });

  it('becomes a project that predicts numbers, with images in another folder', async () => {
    const folder = await writeTable('greys');
    const project = join(home(), 'from-greys');
    const flags = ['--from', join(folder, 'labels.csv'), '--target', 'grey', ...roles, '--column', 'part=ignore'];
    const { code, output } = await runCommand(['create', project, ...flags, '--images', join(folder, 'photos')]);
    expect([code, output]).toEqual([0, expect.stringContaining('which is trusted')]);
    const source = await readFile(join(project, 'project.ts'), 'utf8');
    for (const line of ["folder: 'photos',", "targetKind: 'values',", 'standardizeTargets: true,', 'test: 0.2,']) {
      expect(source).toContain(line);
    }
    expect(source).not.toContain('horizontalFlip');
    const { record, folder: run } = await train(hub(), project, { members: 2, maxEpochs: 1 });
    expect([record.error, record.status]).toEqual([null, 'finished']);
    const predicted = join(run, 'predicted.csv');
    const input = join(folder, 'photos', 'part_2');
    expect((await predictRun({ folder: run, input, output: predicted, format: 'csv', set: 'final' })).rows).toBe(20);
  });

  it('is refused where a choice does not fit, and flags of images have no effect on other tables', async () => {
    const folder = await writeTable('refused');
    const table = join(folder, 'labels.csv');
    const at = (name: string) => join(home(), name);
    const feature = await runCommand(['create', at('r1'), '--from', table, ...roles, '--column', 'grey=number']);
    expect([feature.code, feature.output]).toEqual([
      1,
      expect.stringContaining('"grey" cannot be number: the networks'),
    ]);
    const plain = await writeTree('plain', [['plain.csv', ['a,b', '1,2', '3,4'].join('\n')]]);
    const unused = await runCommand(['create', at('r2'), '--from', join(plain, 'plain.csv'), '--maximum', '9']);
    expect([unused.code, unused.output]).toEqual([
      2,
      expect.stringContaining('--maximum: a flag of images, and this is a table'),
    ]);
    const inspected = await runCommand(['inspect', table, '--image', 'photo', '--target', 'kind']);
    expect(inspected.output).toContain('labels.csv: 40 images of 2 classes.');
  });
});
