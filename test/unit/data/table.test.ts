import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { uciTable, type UciName } from '../../../workers/data/sources/uci.ts';
import { parseTable, type ReadTableOptions } from '../../../workers/data/tables/read-table.ts';
import { tableDataset, type TableDatasetOptions } from '../../../workers/data/tables/table-splits.ts';
import { samples } from '../../samples/samples.ts';
import { temporaryFolder } from './temp-folder.ts';

const parse = async (text: string, options: ReadTableOptions & TableDatasetOptions = {}) =>
  tableDataset(await parseTable(Buffer.from(text), 'file.txt', { missingValues: [], ...options }), options);

describe('parseTable', () => {
  it.each([
    ['white space', '  1 2\t 3 \n\n4  5 6\n\n'],
    ['commas', '1,2,3\r\n4,5,6\r\n'],
    ['semicolons', '1; 2;3\n4;5;6'],
    ['tabs', '1\t2\t3\n4\t5\t6\n'],
  ])('reads columns separated by %s, with the last one as target', async (_, text) => {
    const { features, featureShape, targets } = await parse(text);
    expect(features).toEqual(Float32Array.of(1, 2, 4, 5));
    expect(featureShape).toEqual([2]);
    expect(targets).toEqual(Float32Array.of(3, 6));
  });

  it('reads signs, fractions and exponents', async () => {
    expect((await parse('-1.5e-02 .5 +3. 7E2 0\n')).features).toEqual(Float32Array.of(-0.015, 0.5, 3, 700));
  });

  it('treats a first line without numbers as a header, and finds the target by its name', async () => {
    const text = '\uFEFF"fixed; acidity";quality;"alcohol"\n7.4;5;9.4\n';
    const { features, targets } = await parse(text, { target: 'quality' });
    expect([features, targets]).toEqual([Float32Array.of(7.4, 9.4), Float32Array.of(5)]);
    expect((await parse(text, { target: 0 })).targets).toEqual(Float32Array.of(7.4));
  });

  it('treats a line of numbers as a header only on request', async () => {
    expect((await parse('2019 2020\n1 2\n')).length).toBe(2);
    expect((await parse('2019 2020\n1 2\n', { header: true })).length).toBe(1);
  });

  it('keeps empty fields between tabs', async () => {
    await expect(parse('1\t\t3\n', { delimiter: '\t', columns: { 'column 2': 'number' } })).rejects.toThrow(
      'file.txt, line 1, column 2: "" is not a number',
    );
  });

  it('reads classes from any text, in sorted order', async () => {
    const iris = await parse('5.1,3.5,virginica\n4.9,3.0,setosa\n4.7,3.2,virginica\n', { targetKind: 'classes' });
    expect(iris).toMatchObject({ classNames: ['setosa', 'virginica'], classCount: 2 });
    expect(iris.targets).toEqual(Int32Array.of(1, 0, 1));
    expect((await parse('0 10\n0 9\n', { targetKind: 'classes' })).classNames).toEqual(['9', '10']);
  });

  it.each([
    ['a doubled quote', '1,"say ""hi"""\n', 'say "hi"'],
    ['only doubled quotes', '1,""""\n', '"'],
    ['an empty quoted field', '1,""\n', ''],
    ['a delimiter', '1,"a,b"\n', 'a,b'],
    ['a line end LF', '1,"a\nb"\n', 'a\nb'],
    ['a line end CR LF', '1,"a\r\nb"\r\n', 'a\r\nb'],
    ['white space', '1," a "\n', ' a '],
    ['white space around the quotes', ' 1 , "a" \n', 'a'],
    ['the last field of a file without a last line end', '1,"a"', 'a'],
    ['a quoted field between blanks', '1 "a b"\n', 'a b'],
    ['an apostrophe', "1,it's\n", "it's"],
  ])('keeps the content of a quoted field: %s', async (_, text, className) => {
    expect((await parse(text, { targetKind: 'classes' })).classNames).toEqual([className]);
  });

  it('skips blank lines ended by CR LF, LF or CR, and a byte order mark', async () => {
    const { features, targets } = await parse('\uFEFF\r\n  \n1,2\r\n\r\n3,4\r5,6\n \t\n');
    expect([features, targets]).toEqual([Float32Array.of(1, 3, 5), Float32Array.of(2, 4, 6)]);
  });

  it('reads back any fields quoted by RFC 4180, and names the line of the row after them', async () => {
    const field = fc.string({ unit: fc.constantFrom('"', ',', ';', '\t', '\n', '\r', ' ', 'a', '7', 'é') });
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const options = {
      targetKind: 'classes' as const,
      delimiter: ',' as const,
      header: false,
      columns: { 'column 2': 'category' as const },
    };
    const property = fc.asyncProperty(
      fc.array(field, { minLength: 1 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      async (classes, end) => {
        const text = classes.map((name, index) => `${index},${quoted(name)}${end}`).join('');
        const { features, targets, classNames } = await parse(text, options);
        expect([...targets].map((label) => classNames?.[label])).toEqual(classes);
        expect([...features]).toEqual(classes.map((_, index) => index));
        const line = text.split(/\r\n|\n|\r/).length;
        await expect(parse(`${text}x,y`, options)).rejects.toThrow(
          `file.txt, line ${line}, column 1: "x" is not a number`,
        );
      },
    );
    await fc.assert(property, { seed: 4180, numRuns: 300 });
  });

  it.each([
    ['1 2 3\n4 x 6\n', undefined, 'file.txt, line 2, column 2: "x" is not a number'],
    ['1 2\n3 NaN\n', undefined, 'line 2, column 2: "NaN" is not a number'],
    ['1 2\n3 1e39\n', undefined, 'line 2, column 2: "1e39" is not a number'],
    ['1 2\n0x10 3\n', undefined, 'line 2, column 1: "0x10" is not a number'],
    ['1 2 3\n4 5\n', undefined, 'file.txt, line 2: 2 fields, the first line has 3'],
    ['1,2,3\r\n\r\n4,5\r\n', undefined, 'file.txt, line 3: 2 fields, the first line has 3. Give every line the same'],
    ['1,2\n"3\n3",4,5\n', undefined, 'file.txt, line 2: 3 fields, the first line has 2'],
    ['1,2\n"3\n3",4\n', undefined, 'file.txt, line 2, column 1: "3\\n3" is not a number'],
    ['1,"2\n', undefined, 'file.txt, line 1: a quote is opened in this row and not closed. Close it, or double'],
    ['1,2\n\n3,"4\n5,6\n', undefined, 'file.txt, line 3: a quote is opened in this row and not closed'],
    ['1,2\n3,4"5"\n', undefined, 'file.txt, line 2: a quote stands inside a field without quotes. Put the whole'],
    ['1,2\n3,"4"5\n', undefined, 'file.txt, line 2: text follows a closing quote. End the field there, or double'],
    ['1,2\n3,"4" 5\n', undefined, 'file.txt, line 2: text follows a closing quote'],
    ['1\n2\n', undefined, 'file.txt has one column'],
    ['\n \n', undefined, 'file.txt has no rows of data'],
    ['a,b\n', undefined, 'file.txt has no rows of data'],
    ['1 2\n', { target: 2 }, 'file.txt has no column 2. Choose one of column 1, column 2.'],
    ['a b\n1 2\n', { target: 'c' }, 'file.txt has no column "c". Did you mean'],
  ])('refuses %j', async (text, options, message) => {
    await expect(parse(text, options)).rejects.toThrow(message);
  });
});

describe('uciTable', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('names which file to put where', async () => {
    const [lookup, cache] = [await temporaryFolder(), await temporaryFolder()];
    await expect(uciTable('yacht', { lookup, cache })).rejects.toThrow(
      `Put yacht.txt (numbers separated by white space, target last) into ${join(lookup, 'uci')}`,
    );
  });

  it('reads the quality of red wines as UCI publishes it', async () => {
    const cache = await temporaryFolder();
    await mkdir(join(cache, 'uci'));
    // The first lines of the official file.
    const official = [
      '"fixed acidity";"volatile acidity";"citric acid";"residual sugar";"chlorides";"free sulfur ' +
        'dioxide";"total sulfur dioxide";"density";"pH";"sulphates";"alcohol";"quality"',
      '7.4;0.7;0;1.9;0.076;11;34;0.9978;3.51;0.56;9.4;5',
      '7.8;0.88;0;2.6;0.098;25;67;0.9968;3.2;0.68;9.8;5',
    ];
    await writeFile(join(cache, 'uci', 'winequality-red.csv'), `${official.join('\n')}\n`);
    const dataset = await uciTable('wine', { lookup: null, cache });
    expect(dataset).toMatchObject({ length: 2, featureShape: [11] });
    expect([...dataset.features.subarray(0, 3)]).toEqual([7.4, 0.7, 0].map(Math.fround));
    expect([...dataset.targets]).toEqual([5, 5]);
  });

  it('downloads that table from UCI', async () => {
    const asked: unknown[] = [];
    vi.stubGlobal('fetch', (url: unknown) => {
      asked.push(url);
      return Promise.reject(new Error('no network'));
    });
    const cache = await temporaryFolder();
    const missing = uciTable('wine', { lookup: null, cache });
    await expect(missing).rejects.toThrow(/no network[^]*Put winequality-red\.csv \(.+\) into/);
    const official = 'https://archive.ics.uci.edu/ml/machine-learning-databases/wine-quality/winequality-red.csv';
    expect(asked.map(String)).toEqual([official]);
  });
});

describe('UCI tables', () => {
  // Rows are copied from the files; numpy computed the column sums (make_samples.py).
  it.each<[UciName, number, number, number[], number, number[]]>([
    [
      'yacht',
      308,
      6,
      [-2.3, 0.568, 4.78, 3.99, 3.17, 0.125],
      0.11,
      [-733.6, 173.754, 1474.9, 1212.54, 987.7, 88.55, 3232.57],
    ],
    [
      'wine',
      30,
      11,
      [7.4, 0.7, 0, 1.9, 0.076, 11, 34, 0.9978, 3.51, 0.56, 9.4],
      5,
      [233.3, 16.12, 5.43, 70.9, 3.236, 521, 1678, 29.9085, 99.5, 21.18, 287.3, 160],
    ],
    [
      'concrete',
      30,
      8,
      [540, 0, 0, 162, 2.5, 1040, 676, 28],
      79.99,
      [9976.7, 2612.3, 0, 6456, 5, 28790.2, 20214.1, 4422, 1308.12],
    ],
    [
      'energy',
      30,
      8,
      [0.98, 514.5, 294, 110.25, 7, 2, 0, 0],
      15.55,
      [24.82, 18473, 9457, 4508, 189, 103, 0, 0, 540.52],
    ],
    [
      'kin8nm',
      30,
      8,
      [-0.015119208, 0.36074091, 0.46939777, 1.3096745, 0.98802387],
      0.53652416,
      [
        1.286172904, 1.467379166, 2.9044339839, 2.454100986, 6.3959976098, -2.28267963, -1.37326082, -3.070234235,
        21.47482326,
      ],
    ],
    ['power', 30, 4, [8.34, 40.77, 1010.84, 90.01], 480.48, [557.38, 1540.62, 30418.45, 2073.46, 13704.73]],
  ])('%s has %i rows of %i features', async (name, rows, columns, first, target, sums) => {
    const dataset = await uciTable(name, { lookup: samples, cache: '/nonexistent' });
    expect(dataset).toMatchObject({ name, length: rows, featureShape: [columns] });
    expect(dataset.features.subarray(0, first.length)).toEqual(Float32Array.from(first));
    expect(dataset.targets[0]).toBe(Math.fround(target));
    const found = Array.from({ length: columns }, (_, column) =>
      Array.from(dataset.features).reduce((sum, value, i) => (i % columns === column ? sum + value : sum), 0),
    );
    const targetSum = Array.from(dataset.targets).reduce((sum, value) => sum + value, 0);
    // Single precision errs by 6e-8 relative to the sum of magnitudes.
    expect([...found, targetSum]).toEqual(sums.map((sum) => expect.closeTo(sum, 2)));
  });
});
