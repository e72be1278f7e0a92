import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { imageTable, type ImageTableOptions } from '../../../../workers/data/images/image-splits.ts';
import { withNotes } from '../../../../workers/data/notes.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-image-table-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes a grey image of one pixel. */
async function write(path: string, value: number): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  const image = sharp(Buffer.of(value, value, value), { raw: { height: 1, width: 1, channels: 3 } });
  await writeFile(file, await image.png().toBuffer());
}

/** Reads a table of images of one grey pixel: the splits' values and targets, and the notes. */
async function read(name: string, lines: readonly string[], options: Partial<ImageTableOptions> = {}) {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), lines.join('\n'));
  const all = { size: [1, 1], channels: 1, seed: 3, ...options } as const;
  // The first note says how the table was read.
  const {
    result,
    notes: [, ...notes],
  } = await withNotes(() => imageTable(join(folder, name), all));
  const samplesOf = (split?: typeof result.train) =>
    split && Array.from(split.targets, (target, i) => [split.features[i], target]);
  const [train, validation, test] = [result.train, result.validation, result.test].map(samplesOf);
  return { ...result, samples: { train, validation, test }, notes };
}

describe('imageTable', () => {
  it('reads paths and targets from a table, groups in one split', async () => {
    const rows = Array.from({ length: 12 }, (_, i) => i);
    for (const i of rows) await write(`photos/${i}.png`, i);
    const table = join(folder, 'photos', 'ages.csv');
    await writeFile(table, ['file,camera,age', ...rows.map((i) => `${i}.png,c${i % 4},${i / 2}`)].join('\n'));
    const options = { size: [1, 1], channels: 1, seed: 3, test: 3, group: 'camera' } as const;
    const { train, test, preprocessing } = await imageTable(table, options);
    expect([...train.targets]).toEqual(Array.from(train.features, (value) => value / 2));
    expect(new Set(Array.from(test?.features ?? [], (value) => value % 4)).size).toBe(1);
    expect(train.groups).toEqual(Int32Array.from(train.features, (value) => value % 4));
    expect(train.strata).toBeUndefined();
    expect(preprocessing?.target).toMatchObject({ kind: 'values', columns: ['age'] });
  });

  it('reads its table with the options of readTable', async () => {
    for (const i of [1, 2, 3]) await write(`wide/é${i}.png`, i);
    const table = join(folder, 'wide', 'd.csv');
    const lines = ['é1.png|1,250|1', 'é2.png|2,500|2', 'é3.png|?|3'];
    await writeFile(table, Buffer.from(lines.join('\n'), 'latin1'));
    const options = { size: [1, 1], channels: 1, seed: 1, target: 'column 2' } as const;
    const how = { delimiter: '|', header: false, decimal: ',', encoding: 'windows-1252' } as const;
    await expect(imageTable(table, { ...options, ...how })).rejects.toThrow(
      'd.csv: 1 row has no name of an image, or no target ("column 2" in row 3).',
    );
    await writeFile(table, Buffer.from(lines.slice(0, 2).join('\n'), 'latin1'));
    const { train } = await imageTable(table, { ...options, ...how });
    expect(new Set(train.targets)).toEqual(new Set([1.25, 2.5]));
  });

  it('finds images by their path, and without ending or folder where only one fits', async () => {
    for (const [i, path] of ['p/a.png', 'p/x/b.png', 'p/x/c.1.png', 'p/y/d.png', 'p/x/e.png', 'p/y/e.png'].entries()) {
      await write(path, i);
    }
    const lines = ['file,age', 'p/a.png,0.5', 'b,1.5', String.raw`x\c.1,2.5`, 'd.png,3.5'];
    const { samples } = await read('names.csv', lines, { folder: 'p' });
    expect(samples.train).toEqual([
      [0, 0.5],
      [1, 1.5],
      [2, 2.5],
      [3, 3.5],
    ]);
    await expect(read('names.csv', [...lines, 'e,4.5'], { folder: 'p' })).rejects.toThrow(
      'names.csv: 1 row has a name that several images have ("e" in row 5). Write the folder and the ending of the image.',
    );
  });

  it('refuses rows that are no samples, or leaves them out and says so', async () => {
    for (const i of [0, 1, 2, 3]) await write(`rows/${i}.png`, i);
    const lines = ['file,kind', '0.png,x', '9.png,y', '1.png,y', '1.png,x', ',x', '2.png,y', '2,y', '3.png,'];
    await expect(read('rows/kinds.csv', lines)).rejects.toThrow(
      'kinds.csv: 1 row names an image that is not there ("9.png" in row 2). Correct the names, or give the folder',
    );
    await expect(read('rows/kinds.csv', [lines[0], ...lines.slice(3)])).rejects.toThrow(
      'kinds.csv: 2 rows have no name of an image, or no target ("file" in row 3, "kind" in row 6).',
    );
    const { samples, notes } = await read('rows/kinds.csv', lines, { unusableRows: 'drop' });
    expect(samples.train).toEqual([
      [0, 0],
      [2, 1],
    ]);
    expect(notes).toEqual([
      'kinds.csv: 1 row names an image that is not there ("9.png" in row 2). These rows are left out.',
      'kinds.csv: 2 rows have no name of an image, or no target ("file" in row 5, "kind" in row 8). These rows are left out.',
      'kinds.csv: 2 rows contradict another row of their image ("1.png" in row 3, "1.png" in row 4). These rows are left out.',
      'kinds.csv: 1 row names the image of an earlier row ("2" in row 7). Each image counts once.',
    ]);
  });

  it('takes the splits of a column, and draws those that it lacks from the training rows', async () => {
    for (let i = 0; i < 14; i++) await write(`parts/${i}.png`, i);
    const rows = Array.from(
      { length: 14 },
      (_, i) => `${i},${i % 2 === 0 ? 'even' : 'odd'},${i < 10 ? 'fit' : i < 13 ? 'check' : 'spare'}`,
    );
    const split = { column: 'part', train: 'fit', test: 'check' };
    const options = { target: 'kind', columns: { file: 'category' }, split, validation: 0.2, test: 0.1 } as const;
    const { samples, train, notes } = await read('parts/p.csv', ['file,kind,part', ...rows], options);
    expect(samples.test).toEqual([
      [10, 0],
      [11, 1],
      [12, 0],
    ]);
    expect(train.classNames).toEqual(['even', 'odd']);
    // A fifth of ten, with the classes in the same proportions.
    expect([samples.train?.length, samples.validation?.map(([, label]) => label)]).toEqual([8, [0, 1]]);
    for (const [value, label] of Object.values(samples).flatMap((own) => own ?? [])) expect(value % 2).toBe(label);
    expect(notes).toEqual([
      'p.csv: 1 row is left out, because its "part" is that of no split.',
      'test: 0.1 has no effect, because the images of p.csv where "part" is "check" are that split.',
    ]);
    await expect(
      read('parts/p.csv', ['file,kind,part', ...rows], { ...options, split: { ...split, test: 'eval' } }),
    ).rejects.toThrow(
      'No image is in the test split: no row of p.csv where "part" is "eval". The values are fit, check, spare.',
    );
  });

  it('reads several labels of an image', async () => {
    for (const i of [0, 1]) await write(`labels/${i}.png`, i);
    const lines = ['file,cat,dog', '0.png,1,0', '1.png,1,1'];
    const { train, preprocessing } = await read('labels/l.csv', lines, {
      target: ['cat', 'dog'],
      targetKind: 'labels',
    });
    expect([...train.targets]).toEqual([1, 0, 1, 1]);
    expect(preprocessing?.target).toEqual({ kind: 'values', columns: ['cat', 'dog'], mean: [0, 0], std: [1, 1] });
  });
});
