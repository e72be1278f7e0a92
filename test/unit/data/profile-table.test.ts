import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gzipSync } from 'node:zlib';
import type { InspectProgress } from '../../../core/protocol/run/inspect-task.ts';
import { tableProfileSchema } from '../../../core/preprocessing/profile.ts';
import { profileText } from '../../../core/preprocessing/profile-text.ts';
import { type ProfileOptions, profileTable } from '../../../workers/data/tables/profile-table.ts';
import { temporaryFolder } from './temp-folder.ts';

/** The profile of a table whose file has these bytes. */
async function profileOf(content: string | Buffer, options: ProfileOptions = {}, name = 'd.csv') {
  const file = join(await temporaryFolder(), name);
  await writeFile(file, content);
  return profileTable(file, options);
}

/** `question encoding`, `warning row-counter id` */
const spelt = ({ level, kind, column }: { level: string; kind: string; column: string | null }): string =>
  [level, kind, ...(column === null ? [] : [column])].join(' ');

async function findingsOf(content: string | Buffer, options: ProfileOptions = {}): Promise<string[]> {
  return (await profileOf(content, options)).findings.map(spelt);
}

/** Lines of a table. */
const csv = (head: string, rows: number, row: (i: number) => string): string =>
  [head, ...Array.from({ length: rows }, (_, i) => row(i))].join('\n');

/** Values without order, the same ones each time. */
const mixed = (i: number): number => ((i * 7919) % 101) / 100;

describe('a large table', () => {
  const large = csv('text,value', 320_000, (i) => `"a ""quoted"",\n text",${i}`);

  it('shows its first rows before it is read, and how far the reading is', async () => {
    const file = join(await temporaryFolder(), 'd.csv');
    await writeFile(file, large);
    const told: InspectProgress[] = [];
    const profile = await profileTable(file, {}, (progress) => told.push(progress));
    expect(profile).toMatchObject({ sampleBytes: null, bytes: large.length, reading: { rows: 320_000 } });
    const samples = told.flatMap(({ sample }) => sample ?? []);
    expect(samples).toHaveLength(1);
    const [sample] = samples.map((own) => tableProfileSchema.parse(own));
    // A row of the head, and rows of 25 or more bytes with two lines each, of which none is cut.
    expect(sample.bytes).toBe(large.length);
    expect(sample.sampleBytes).toBeGreaterThan(2 ** 22 - 40);
    expect(sample.sampleBytes).toBeLessThanOrEqual(2 ** 22);
    const rows = large.slice(0, sample.sampleBytes ?? 0).split('\n').length / 2 - 1;
    expect(sample.reading.rows).toBe(rows);
    expect(sample.columns[1].range).toEqual({ smallest: 0, median: (rows - 1) / 2, largest: rows - 1 });
    const doing = told.map((progress) => progress.doing);
    expect(doing[0]).toBe('0 % read');
    expect(doing).toContain('50 % read');
    expect(doing.slice(-3)).toEqual([
      'summing up column 1 of 2',
      'summing up column 2 of 2',
      'comparing columns and rows',
    ]);
  });

  it('of one object a line has a sample, too; packed and small ones, and UTF-16, are read whole at once', async () => {
    const lines = Array.from({ length: 320_000 }, (_, i) => JSON.stringify({ text: 'a "', value: i })).join('\n');
    const samplesOf = async (name: string, content: string | Buffer): Promise<number> => {
      const file = join(await temporaryFolder(), name);
      await writeFile(file, content);
      let samples = 0;
      const { reading } = await profileTable(file, {}, ({ sample }) => (samples += sample === null ? 0 : 1));
      expect(reading.columns.map(({ name: own }) => own)).toEqual(['text', 'value']);
      return samples;
    };
    expect(await samplesOf('d.jsonl', lines)).toBe(1);
    expect(
      await samplesOf(
        'd.csv',
        csv('text,value', 1000, (i) => `a,${i}`),
      ),
    ).toBe(0);
    expect(await samplesOf('d.csv.gz', gzipSync(large))).toBe(0);
    expect(await samplesOf('d.csv', Buffer.from(`\ufeff${large}`, 'utf16le'))).toBe(0);
  }, 60_000);
});

describe('the columns of a table', () => {
  it('have counts, ranges, bars and examples as counted by hand', async () => {
    const { columns, reading } = await profileOf(
      'size,kind,day,ok\n1,a,2026-01-01,true\n3,b,2026-01-03,false\n,a,,true\n8,a,2026-01-02,true\n',
    );
    expect(reading).toMatchObject({ rows: 4, delimiter: ',', header: true, encoding: 'utf-8' });
    expect(columns).toMatchObject([
      {
        type: 'number',
        missing: { '': 1 },
        present: 3,
        distinctValues: 3,
        range: { smallest: 1, median: 3, largest: 8 },
        examples: [1, 3, 8],
        bars: [
          { label: '1', count: 1 },
          { label: '3', count: 1 },
          { label: '8', count: 1 },
        ],
      },
      {
        type: 'category',
        distinctValues: 2,
        range: null,
        bars: [
          { label: 'a', count: 3 },
          { label: 'b', count: 1 },
        ],
      },
      { type: 'date', range: { smallest: '2026-01-01', median: '2026-01-02', largest: '2026-01-03' } },
      { type: 'boolean', range: { smallest: 'false', median: 'true', largest: 'true' } },
    ]);
  });

  it('have one of the dates in the middle as their median, not the time between two', async () => {
    const { columns } = await profileOf(csv('day', 4, (i) => `2026-01-0${i + 1}`));
    expect(columns[0].range).toEqual({ smallest: '2026-01-01', median: '2026-01-02', largest: '2026-01-04' });
  });

  it('count many values in twelve equal ranges, of which the last holds the largest', async () => {
    const { columns } = await profileOf(csv('x', 25, (i) => String(i)));
    // 0 to 24 in ranges of 2: two each, and 24 with the last two.
    expect(columns[0].bars.map(({ count }) => count)).toEqual([2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
    expect(columns[0].bars[1].label).toBe('from 2');
  });

  it('name the most frequent of many texts, and count the others', async () => {
    const { columns } = await profileOf(csv('x,y', 60, (i) => `${i < 20 ? 'often' : `t${i % 20}`},${mixed(i)}`));
    const [first, ...others] = columns[0].bars;
    expect(first).toEqual({ label: 'often', count: 20 });
    expect(others).toHaveLength(11);
    expect(others.at(-1)).toEqual({ label: '10 others', count: 20 });
  });
});

it('says which comments in front of a table are left out', async () => {
  const { findings, reading } = await profileOf('|1x3 Cross validator\n25, a, <=50K.\n38, a, >50K.\n28, ?, >50K.\n');
  expect(reading).toMatchObject({ rows: 3, header: false, comments: ['|1x3 Cross validator'] });
  expect(findings.find(({ kind }) => kind === 'comments')).toEqual({
    level: 'note',
    kind: 'comments',
    column: null,
    message: 'Left out at the beginning of d.csv: 1 line of comment ("|1x3 Cross validator").',
    choices: null,
    option: 'commentLines: 1',
  });
});

describe('what a reading for training would refuse is a question', () => {
  it('cells that do not fit most of the column, with their places', async () => {
    const profile = await profileOf(csv('a,y', 30, (i) => `${i % 10 === 3 ? 'n/k' : i * mixed(i)},${i % 2}`));
    const [misfits] = profile.findings;
    expect(spelt(misfits)).toBe('question misfits a');
    expect(misfits.message).toMatch(
      /^3 of 30 cells of "a" are no numbers, such as "n\/k" \(.*d\.csv, line 5, column 1 \(a\)\)/,
    );
    expect(misfits.option).toContain("'?', 'n/k'], or columns: { a: 'category' }");
    expect(profile.columns[0]).toMatchObject({ type: 'number', present: 27, misfitCount: 3 });
  });

  it('dates of two readings', async () => {
    const dates = csv('d,y', 24, (i) => `0${(i % 9) + 1}/0${((i * 5) % 9) + 1}/2021,${mixed(i)}`);
    const { findings, columns } = await profileOf(dates);
    expect(findings.map(spelt)).toContain('question date-format d');
    expect(findings[0].message).toMatch(/is .* \(DD\/MM\/YYYY\) or .* \(MM\/DD\/YYYY\)/);
    expect(columns[0]).toMatchObject({ type: 'date', dateFormat: 'DD/MM/YYYY' });
    // The answer settles it.
    expect(await findingsOf(dates, { dateFormat: 'MM/DD/YYYY' })).not.toContain('question date-format d');
  });

  it('numbers whose sign may be for decimals or thousands', async () => {
    expect(await findingsOf(csv('n;y', 20, (i) => `${i + 1},${100 + i};${i % 2}`))).toContain(
      'question number-format n',
    );
  });

  it('a first line that may be names', async () => {
    expect(await findingsOf(csv('0,1,2', 20, (i) => `${mixed(i)},${i % 3},${i}`))).toContain('question header');
    const years = csv('2019,2020,2021,2022', 20, (i) => `${100 * mixed(i)},${i % 7},${mixed(i + 3)},${(i * 13) % 17}`);
    expect(await findingsOf(years)).toContain('question header');
    const uneven = csv('1990,2000,2005', 20, (i) => `${mixed(i)},${mixed(i + 1)},${mixed(i + 2)}`);
    expect(await findingsOf(uneven)).toContain('question header');
    // Rows below ascend as the first line does.
    expect(await findingsOf(csv('1,2,3', 20, (i) => `${i},${i + 1},${i + 2}`))).not.toContain('question header');
    expect(await findingsOf(csv('3,2,4', 20, (i) => `${i % 3},${i % 5},${i % 7}`))).not.toContain('question header');
  });

  it.each([
    [
      'Windows-1252',
      Buffer.from(
        csv('city,x', 20, (i) => `${i % 2 ? 'Zürich' : 'Bern'},${mixed(i)}`),
        'latin1',
      ),
      'windows-1252',
    ],
    [
      'UTF-16 without a mark',
      Buffer.from(
        csv('city,x', 20, (i) => `${i % 2 ? 'Zürich' : 'Bern'},${mixed(i)}`),
        'utf16le',
      ),
      'utf-16le',
    ],
  ])('text in %s', async (_, bytes, encoding) => {
    const { findings, columns } = await profileOf(bytes);
    expect(spelt(findings[0])).toBe('question encoding');
    expect(findings[0].option).toBe(`encoding: '${encoding}'`);
    expect(findings[0].choices).toContain('macintosh');
    expect(columns[0].examples).toEqual(['Bern', 'Zürich']);
  });

  it('no text in UTF-32, which is refused', async () => {
    const text = csv('city,x', 20, (i) => `${i % 2 ? 'Zürich' : 'Bern'},${mixed(i)}`);
    const signs = Uint32Array.from(text, (sign) => sign.codePointAt(0) ?? 0);
    await expect(profileOf(Buffer.from(signs.buffer))).rejects.toThrow('d.csv is text in UTF-32, which is not read.');
  });
});

it('categories that differ in capital letters or the composition of accents are a warning', async () => {
  const text = (own: readonly string[]): string => csv('city,x', 20, (i) => `${own[i % own.length]},${mixed(i)}`);
  for (const own of [
    ['Bern', 'bern', 'Zug'],
    ['Orle\u0301ans', 'Orléans'],
  ]) {
    const { findings } = await profileOf(text(own));
    const found = findings.find(({ kind }) => kind === 'spellings');
    expect(found).toMatchObject({ level: 'warning', column: 'city', option: "ignoreCase: ['city']" });
    expect(await findingsOf(text(own), { ignoreCase: ['city'] })).not.toContain('warning spellings city');
  }
  expect(await findingsOf(text(['Bern', 'Zug']))).not.toContain('warning spellings city');
});

it('text in UTF-8 that the user takes for another encoding is a warning', async () => {
  const text = csv('city,x', 20, (i) => `${i % 2 ? 'Zürich' : 'Bern'},${mixed(i)}`);
  expect(await findingsOf(text, { encoding: 'windows-1252' })).toContain('warning encoding');
  expect(await findingsOf(Buffer.from(text, 'latin1'), { encoding: 'windows-1252' })).not.toContain('warning encoding');
});

describe('what a model should not learn from is a warning', () => {
  const label = (i: number): string => (mixed(i) > 0.5 ? 'yes' : 'no');

  it.each<[what: string, content: string, finding: string]>([
    [
      'a column that counts the rows',
      csv('n,x,y', 40, (i) => `${i},${mixed(i)},${label(i + 1)}`),
      'warning row-counter n',
    ],
    [
      'another text in each row',
      csv('who,x,y', 40, (i) => `u-${i},${mixed(i)},${label(i + 1)}`),
      'warning identifier who',
    ],
    [
      'another whole number in each row of an id',
      csv('userId,x,y', 40, (i) => `${(i * 37) % 1009},${mixed(i)},${label(i + 1)}`),
      'warning identifier userId',
    ],
    ['the same value in each row', csv('x,unit,y', 40, (i) => `${mixed(i)},kg,${label(i + 1)}`), 'note constant unit'],
    ['a copy', csv('x,again,y', 40, (i) => `${mixed(i)},${mixed(i)},${label(i + 1)}`), 'warning copy again'],
    [
      'a code for each value of another column',
      csv('c,d,y', 40, (i) => `${'abc'[i % 3]},${10 + (i % 3)},${label(i)}`),
      'warning copy d',
    ],
    ['numbers that begin with 0', csv('zip,y', 40, (i) => `0${8000 + (i % 7)},${label(i)}`), 'warning codes zip'],
    ['names of images', csv('f,y', 40, (i) => `a/${i % 30}.PNG,${label(i)}`), 'warning image-names f'],
    ['text', csv('t,y', 120, (i) => `some words of row ${i},${label(i)}`), 'warning free-text t'],
    [
      'a number for missing values',
      csv('x,y', 40, (i) => `${i % 8 ? mixed(i) : -999},${label(i)}`),
      'warning sentinel x',
    ],
    [
      'NA among names',
      csv('land,y', 40, (i) => `${['NA', 'DE', 'FR'][i % 3]},${label(i)}`),
      'warning missing-texts land',
    ],
    ['rows that repeat', csv('a,b,y', 40, (i) => `${i % 20},${(i % 20) ** 2},${label(i % 20)}`), 'warning duplicates'],
    [
      'a class with few rows',
      csv('x,y', 40, (i) => `${mixed(i)},${i < 3 ? 'rare' : label(i + 1)}`),
      'warning rare-classes y',
    ],
    [
      'a category that tells the class',
      csv('x,c,y', 40, (i) => `${mixed(i)},${i % 4},${i % 4 < 2 ? 'low' : 'high'}`),
      'warning answer c',
    ],
    [
      'a threshold that tells the class',
      csv('x,later,y', 40, (i) => `${mixed(i)},${i * 1.5},${i < 20 ? 'a' : 'b'}`),
      'warning answer later',
    ],
    [
      'the target in another unit',
      csv('inch,x,y', 40, (i) => `${mixed(i) / 2.54},${mixed(3 * i)},${mixed(i)}`),
      'warning answer inch',
    ],
    [
      'a target in another unit that was rounded',
      csv('c,x,f', 60, (i) => `${(10 * mixed(i)).toFixed(1)},${mixed(i * i)},${(18 * mixed(i) + 32).toFixed(1)}`),
      'warning answer c',
    ],
    [
      'a target on another scale',
      csv('log,x,z', 60, (i) => `${Math.log(1 + mixed(i))},${mixed(i * i)},${Math.exp(5 * mixed(i))}`),
      'warning answer log',
    ],
    [
      'a column that only rows of one class have',
      csv('boat,x,y', 60, (i) => `${label(i) === 'yes' ? i % 7 : ''},${mixed(i * i)},${label(i)}`),
      'warning answer boat',
    ],
    [
      'a column that counts the rows from another number on, or down',
      csv('i,x,y', 60, (i) => `${1060 - i},${mixed(i * i)},${label(i)}`),
      'warning sorted i',
    ],
    [
      'ids of more digits than a number has',
      csv('user_id,x,y', 60, (i) => `${9_007_199_254_740_993n + BigInt(i)},${mixed(i * i)},${label(i)}`),
      'warning identifier user_id',
    ],
    [
      'rows that belong together',
      csv('patient_id,x,y', 60, (i) => `${i % 12},${mixed(i)},${mixed(i * i)}`),
      'warning groups patient_id',
    ],
  ])('%s', async (_, content, finding) => {
    expect(await findingsOf(content)).toContain(finding);
  });

  it('what gives an answer away is looked for against each target, and its message names the target', async () => {
    const table = csv('inch,c,x,y,z', 40, (i) => {
      return `${mixed(i) / 2.54},${i % 4},${mixed(3 * i)},${i % 4 < 2 ? 'low' : 'high'},${mixed(i)}`;
    });
    const answersOf = async (options: ProfileOptions) =>
      (await profileOf(table, options)).findings
        .filter(({ kind }) => kind === 'answer')
        .map(({ column, message }) => [column, message.split('.')[0]]);
    const ofY = ['c', '"c" alone tells "y" in every row'];
    expect(await answersOf({ target: 'y' })).toEqual([ofY]);
    expect(await answersOf({ target: 'y', furtherTargets: ['z'] })).toEqual([
      ofY,
      ['inch', '"inch" is "z" in another unit (correlation 1'],
    ]);
    // No model learns from another target.
    expect(await answersOf({ target: 'y', furtherTargets: ['z', 'inch', 'c'] })).toEqual([]);
    await expect(answersOf({ target: 'y', furtherTargets: ['v'] })).rejects.toThrow('has no column "v"');
  });

  it('nothing of the kind is told of a table without faults', async () => {
    const plain = csv(
      'x,z,c,y',
      60,
      (i) => `${mixed(i)},${mixed(i * i + 3)},${'abc'[(i * i) % 3]},${label(5 * i + 1)}`,
    );
    expect(await findingsOf(plain)).toEqual([]);
  });
});

it('the target is the column that the user names, one of that name, or the last one that can be one', async () => {
  const table = csv('label,x,id', 40, (i) => `${'ab'[i % 2]},${mixed(i)},${i}`);
  expect((await profileOf(table)).target).toEqual({ name: 'label', reason: 'it has the name of a target' });
  expect((await profileOf(table.replace('label', 'first'))).target?.name).toBe('x');
  expect((await profileOf(table, { target: 'x' })).target).toEqual({ name: 'x', reason: 'as you say' });
  await expect(profileOf(table, { target: 'lable' })).rejects.toThrow('has no column "lable". Did you mean label?');
});

it('what a terminal shows has the reading, a line for each column, and each finding with its option', async () => {
  const text = profileText(await profileOf(csv('id,x,y', 40, (i) => `${i},${mixed(i)},${'ab'[i % 2]}`)));
  const lines = text.split('\n');
  expect(lines[0]).toMatch(/^d\.csv: 40 rows, UTF-8, separated by commas, names in the first line; .* \d+ B\.$/);
  expect(lines[2]).toMatch(/^column\s+type\s+missing\s+distinct/);
  expect(lines.slice(3, 6).map((line) => line.split(' ')[0])).toEqual(['id', 'x', 'y']);
  expect(text).toContain('warning: "id" counts the rows.');
  expect(text).toContain("\n  columns: { id: 'ignore' }");
  expect(text).toContain('Target: y (it has the name of a target).');
});

it('commands in names reach no terminal', async () => {
  const text = profileText(await profileOf('a\u001b[31m,y\n1,2\n3,4\n'));
  expect(text).not.toContain('\u001b');
});
