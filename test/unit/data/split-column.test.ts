import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planProject, splitCounts } from '../../../core/preprocessing/plans/project-plan.ts';
import { projectSource } from '../../../core/preprocessing/plans/project-source.ts';
import { splitOf } from '../../../core/preprocessing/split-column.ts';
import { withNotes } from '../../../workers/data/notes.ts';
import { fitted } from '../../../workers/data/preprocessing/fitted.ts';
import { profileTable, type ProfileOptions } from '../../../workers/data/tables/profile-table.ts';
import { parseTable } from '../../../workers/data/tables/read-table.ts';
import { tableSplits, type TableSplitOptions } from '../../../workers/data/tables/table-splits.ts';
import { temporaryFolder } from './temp-folder.ts';

/** Ten rows: 1 to 6 train, 7 and 8 validate, 9 and 10 test; the last one equals the second in x and y. */
const ten =
  'x,part,y\n1,Train,a\n2,training,b\n3,TR,a\n4,train,b\n5,train,a\n6,train,b\n7,Val,a\n8,dev,b\n9,TEST,a\n2,holdout,b';
const own = { seed: 0, target: 'y', split: 'part', standardize: false } satisfies TableSplitOptions;

const tableOf = (text: string) => parseTable(Buffer.from(text), 'd.csv');
const splitsOf = async (text: string, options: Partial<TableSplitOptions> = {}) =>
  tableSplits(await tableOf(text), { ...own, ...options });
const sharing = 'x,part,y\n1,train,a\n2,train,b\n1,test,a\n1,test,a\n3,test,b\n2,valid,b\n2,test,b\n';

describe('names of splits', () => {
  it.each([
    ['Training', 'train'],
    ['tr', 'train'],
    ['VALID', 'validation'],
    ['dev', 'validation'],
    ['test_set', 'test'],
    ['Hold-out', 'test'],
    ['seg_train', null],
    ['fold 1', null],
  ])('%s: %s', (name, split) => expect(splitOf(name)).toBe(split));
});

describe('tableSplits by a column that names the splits', () => {
  it('assigns the rows, whose split is no feature', async () => {
    const { train, validation, test, preprocessing } = await splitsOf(ten);
    expect([...train.features]).toEqual([1, 2, 3, 4, 5, 6]);
    expect([...(validation?.features ?? [])]).toEqual([7, 8]);
    expect([...(test?.features ?? [])]).toEqual([9, 2]);
    expect(train.featureNames).toEqual(['x']);
    expect(preprocessing?.steps).toMatchObject([{ kind: 'table', columns: [{ name: 'x' }] }]);
    expect(preprocessing?.reading?.columns.map(({ name }) => name)).toEqual(['x', 'part', 'y']);
  });

  it('holds validation rows out of the training rows where none are named', async () => {
    const text = ten.replace('Val', 'train').replace('dev', 'train');
    const { train, validation, test } = await splitsOf(text, { validation: 0.25, stratify: true });
    expect([train.length, validation?.length, test?.length]).toEqual([6, 2, 2]);
    expect([...train.features, ...(validation?.features ?? [])].toSorted((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ]);
    expect([...(validation?.targets ?? [])].toSorted((a, b) => a - b)).toEqual([0, 1]);
    expect((await splitsOf(text)).validation).toBeUndefined();
  });

  it('keeps groups together in the validation rows that it holds out', async () => {
    const rows = Array.from({ length: 12 }, (_, i) => `${i},g${i >> 1},${i < 10 ? 'train' : 'test'},${'ab'[i % 2]}`);
    const { train, validation } = await splitsOf(`x,who,part,y\n${rows.join('\n')}`, { group: 'who', validation: 4 });
    const groupsOf = (features: ArrayLike<number> = []) => new Set(Array.from(features, (x) => x >> 1));
    const held = groupsOf(validation?.features);
    expect(held.size).toBe(2);
    expect([...groupsOf(train.features)].filter((own) => held.has(own))).toEqual([]);
  });

  it('notes rows that are in two splits, and sizes without effect', async () => {
    const { notes } = await withNotes(() => splitsOf(sharing, { validation: 0.2 }));
    expect(notes.slice(1)).toEqual([
      'd.csv: 1 row of the validation split and 3 rows of the test split are in another split too, with the same ' +
        'features and target, such as row 6 (validation) and row 2 (train), row 3 (test) and row 1 (train), row 4 (test) and ' +
        'row 1 (train). What a model has learned by heart looks better there than it is: leave such rows out of ' +
        'one of the splits.',
      'd.csv: validation: 0.2 has no effect, because "part" names the validation split.',
    ]);
  });

  it('compares features and targets alone, and takes missing values for equal', async () => {
    const text = 'x,who,part,y\n1,p,train,a\n,q,train,a\n2,r,train,b\n1,s,test,b\n,t,test,a\n';
    const { notes } = await withNotes(() => splitsOf(text, { missing: { x: 'impute' }, group: 'who' }));
    expect(notes.join()).toContain('1 row of the test split is in another split too');
    expect(notes.join()).toContain('row 5 (test) and row 2 (train)');
  });

  it.each<[string, string, Partial<TableSplitOptions>, string]>([
    [
      'a value that is no name',
      ten.replace('holdout', 'extra').replace('dev', 'extra'),
      {},
      'Splitting d.csv: "part" is to name the split of each row, but 2 rows have another value: "extra". Names of ' +
        'splits are train, training,',
    ],
    ['an empty cell', ten.replace('dev', ''), {}, 'Column "part" of d.csv has no value in row 8.'],
    [
      'empty cells',
      ten.replace('TEST', '').replace('holdout', ''),
      {},
      'Column "part" of d.csv has no value in 2 of 10 rows, first in row 9.',
    ],
    [
      'no test rows',
      ten.replace('TEST', 'val').replace('holdout', 'val'),
      {},
      'no row is in the test split (train 6, validation 4)',
    ],
    ['no training rows', 'x,part,y\n1,val,a\n2,test,b', {}, 'no row is in the train split (validation 1, test 1)'],
    [
      'folds',
      ten,
      { fold: { count: 5, index: 0 } },
      'so that fold cannot decide as well. Leave out the folds, or split.',
    ],
    [
      'a time',
      sharing.replaceAll(',', ',1,').replace('x,1', 'x,z').replace('part,1', 'part,w'),
      { time: 'x' },
      'so that time cannot decide as well. Leave out time, or split.',
    ],
    ['no such column', ten, { split: 'parts' }, 'has no column "parts". Did you mean part?'],
  ])('refuses %s', async (_, text, options, message) => {
    await expect(splitsOf(text, options)).rejects.toThrow(message);
  });

  it('drops rows without a split where it is told to', async () => {
    const { train, validation } = await splitsOf(ten.replace('dev', ''), { missing: { part: 'drop' } });
    expect([train.length, validation?.length]).toEqual([6, 1]);
  });

  it('predicts rows of a table without the column, or with other values in it', async () => {
    const { preprocessing } = await splitsOf(ten);
    if (preprocessing === undefined) throw new Error('The splits carry no preprocessing.');
    for (const text of ['x\n5\n6\n', 'x,part\n5,new\n6,\n']) {
      const { reading } = preprocessing;
      const table = await parseTable(Buffer.from(text), 'new.csv', reading === undefined ? {} : { reading });
      expect([...fitted(preprocessing).features(table)]).toEqual([5, 6]);
    }
  });
});

const mixed = (i: number): number => ((i * 7919) % 101) / 100;
const bikes = (partOf: (i: number) => string, count = 60): string =>
  `x,z,part,y\n${Array.from({ length: count }, (_, i) => `${mixed(i)},${i % 7},${partOf(i)},${mixed(3 * i) > 0.5 ? 'a' : 'b'}`).join('\n')}`;
const thirds = (i: number): string => ['Train', 'train', 'valid', 'train', 'test', 'train'][i % 6];

async function profileOf(text: string, options: ProfileOptions = {}) {
  const file = join(await temporaryFolder(), 'd.csv');
  await writeFile(file, text);
  return profileTable(file, options);
}

describe('a project for a table that names its splits', () => {
  it('is proposed with the counts, and writes the option', async () => {
    const profile = await profileOf(bikes(thirds));
    expect(profile.findings).toContainEqual({
      level: 'note',
      kind: 'splits',
      column: 'part',
      message: '"part" names the split of each row: 40 rows train, 10 validate, 10 test.',
      choices: null,
      option: "split: 'part'",
    });
    const plan = planProject(profile);
    expect(plan).toMatchObject({ split: 'part', drawn: [], targets: ['y'] });
    expect(plan.decisions.at(-1)).toBe('"part" names the split of each row: 40 rows train, 10 validate, 10 test.');
    expect(splitCounts(plan)).toEqual({ train: 40, validation: 10, test: 10, isAbout: false });
    const source = projectSource(plan, 'd.csv', 'Own');
    expect(source).toContain("split: 'part',");
    expect(source).toContain('async data({ seed }) {');
    expect(source).not.toMatch(/validation: 0|test: 0|stratify|fold/);
  });

  it('holds a fifth of the training rows out where none validate', async () => {
    const plan = planProject(await profileOf(bikes((i) => (i % 3 ? 'TRAIN' : 'Test'))));
    expect(plan.decisions.at(-1)).toBe(
      '"part" names the split of each row: 40 rows train, 20 test. A fifth of the training rows validates, with the ' +
        'classes in the same proportions.',
    );
    expect(splitCounts(plan)).toEqual({ train: 32, validation: 8, test: 20, isAbout: false });
    const source = projectSource(plan, 'd.csv', 'Own');
    expect(source).toMatch(/split: 'part',\n[^}]+ validation: 0.2,\n\s+stratify: true/);
  });

  it.each<[string, (i: number) => string]>([
    ['train and validation alone', (i) => (i % 3 ? 'train' : 'val')],
    ['another value', (i) => ['train', 'test', 'extra'][i % 3]],
    ['an empty cell', (i) => ['train', 'test', ''][i % 3]],
  ])('is not proposed for %s, and refused', async (_, partOf) => {
    expect((await profileOf(bikes(partOf))).split).toBeNull();
    const asked = await profileOf(bikes(partOf), { split: 'part' });
    const { message } = asked.findings.find(({ kind, level }) => kind === 'splits' && level === 'warning') ?? {};
    expect(message).toContain('"part" is to name the split of each row, but ');
    expect(() => planProject(asked, { roles: { part: 'split' } })).toThrow(message);
  });

  it('gives way to another role, and to another way to split', async () => {
    const profile = await profileOf(bikes(thirds));
    const asFeature = planProject(profile, { roles: { part: 'category' } });
    expect([asFeature.split, asFeature.drawn, asFeature.open.map(({ kind }) => kind)]).toEqual([
      null,
      ['validation', 'test'],
      // As names of splits, `Train` and `train` are one; as categories they are two.
      ['spellings'],
    ]);
    expect(planProject(profile, { roles: { z: 'group' } })).toMatchObject({ split: 'part', group: 'z' });
    const timed = await profileOf(bikes(thirds), { time: 'x' });
    expect(planProject(timed, { roles: { x: 'time' } }).roles.get('part')).toBe('ignore');
    expect(() => planProject(timed, { roles: { x: 'time', part: 'split' } })).toThrow(
      'either by the time "x" or by the names of splits "part"',
    );
  });

  it('takes the place of a forecast, unless that is asked for', async () => {
    const day = (i: number): string => new Date(Date.UTC(2024, 0, 1 + i)).toISOString().slice(0, 10);
    const rows = Array.from({ length: 120 }, (_, i) => `${day(i)},${i < 90 ? 'train' : 'test'},${mixed(i * i)}`);
    const profile = await profileOf(`day,part,load\n${rows.join('\n')}`);
    expect(planProject(profile)).toMatchObject({ split: 'part', time: null, forecast: null });
    expect(planProject(profile, { roles: { part: 'ignore' } }).time).toBe('day');
    const asked = planProject(profile, { task: 'forecast' });
    expect([asked.time, asked.split, asked.roles.get('part')]).toEqual(['day', null, 'ignore']);
    expect(() => planProject(profile, { task: 'forecast', roles: { part: 'split' } })).toThrow(
      'A forecast takes no names of splits: give "part" another role.',
    );
  });

  it('warns of rows that lie in two splits, whatever numbers the rows', async () => {
    const text = bikes((i) => (i < 30 ? 'train' : 'test'), 57).split('\n');
    // The rows 1 and 2 again, to test.
    const again = [1, 2].map((row) => text[row].replace('train', 'test'));
    const profile = await profileOf([...text, ...again].map((line, i) => `${i === 0 ? 'id' : i},${line}`).join('\n'));
    const shared = profile.findings.filter(({ kind }) => kind === 'shared-rows');
    expect(shared).toMatchObject([{ level: 'warning', column: 'part' }]);
    expect(shared[0].message).toContain('2 rows of the test split are in another split too');
    expect(shared[0].message).toContain('row 58 (test) and row 1 (train), row 59 (test) and row 2 (train).');
    expect(planProject(profile).open).toContainEqual(shared[0]);
    expect(planProject(profile, { roles: { part: 'category' } }).open).not.toContainEqual(shared[0]);
  });
});
