import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileProfileSchema } from '../../core/protocol/run/inspect-task.ts';
import { predictRun } from '../../src-main/predictions/predict-run.ts';
import { type Content, each, images, imageTrees, png, writeFiles } from '../cases/image-trees.ts';
import { tiff } from '../unit/data/images/tiff.ts';
import { runCommand } from './damages/run-command.ts';
import { train, useHub } from './harness.ts';

const { hub, home } = useHub();

async function writeTree(name: string, files: readonly [string, Content][]): Promise<string> {
  const folder = join(home(), name);
  await writeFiles(folder, files);
  return folder;
}

it.each(Object.keys(imageTrees))('create --from writes the options of %s', async (name) => {
  const { files, flags = [], writes, classes, says = [] } = imageTrees[name];
  const own = name.replaceAll(/\W+/g, '-');
  const folder = await writeTree(join('data', own), files);
  const project = join(home(), own);
  const { code, output } = await runCommand(['create', project, '--from', folder, ...flags]);
  expect([code, output]).toEqual([0, expect.stringContaining('which is trusted')]);
  const source = await readFile(join(project, 'project.ts'), 'utf8');
  for (const line of writes) expect(source).toContain(line);
  for (const text of says) expect(output).toContain(text);
  if (classes === undefined) return;
  const inspected = await runCommand(['inspect', folder, '--json']);
  const profile = fileProfileSchema.parse(JSON.parse(inspected.output));
  expect(profile.kind === 'images' && profile.classes.map((own) => own.name)).toEqual(classes);
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
