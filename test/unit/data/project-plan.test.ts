import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PlanChoices, planProject, splitCounts } from '../../../core/preprocessing/plans/project-plan.ts';
import { projectSource } from '../../../core/preprocessing/plans/project-source.ts';
import { type ProfileOptions, profileTable } from '../../../workers/data/tables/profile-table.ts';
import { root } from '../docs/code-blocks.ts';
import { typeErrors } from '../docs/type-errors.ts';
import { temporaryFolder } from './temp-folder.ts';

async function planOf(content: string | Buffer, choices: PlanChoices = {}, options: ProfileOptions = {}) {
  const file = join(await temporaryFolder(), 'd.csv');
  await writeFile(file, content);
  return planProject(await profileTable(file, options), choices);
}

const csv = (head: string, rows: number, row: (i: number) => string): string =>
  [head, ...Array.from({ length: rows }, (_, i) => row(i))].join('\n');
const mixed = (i: number): number => ((i * 7919) % 101) / 100;

const classes = csv(`id,"it's a ""size""",zip,port,note,class`, 80, (i) =>
  [
    i,
    mixed(i),
    1000 + (i % 7),
    i % 9 ? 'ab'[i % 2] : '',
    `words of row ${i} and more`,
    mixed(3 * i) > 0.5 ? 'x' : 'y',
  ].join(','),
);
const numbers = csv('when;amount;who;w;price', 80, (i) =>
  [`${(i % 28) + 1}.01.2026`, `${i + 1},5`, `p${i % 10}`, (i % 3) + 1, `${Math.round(1000 * mixed(i))},25`].join(';'),
);

/** Hours of two stations, the newest first, of which one gap of a day in each. */
const hours = csv('hour,station,weather,wind,load', 400, (i) => {
  const hour = Math.floor((399 - i) / 2);
  const time = new Date(Date.UTC(2024, 0, 1, hour + (hour >= 60 ? 24 : 0))).toISOString();
  return `${time},${'ab'[i % 2]},${['dry', 'wet', 'snow'][i % 3]},${mixed(i)},${(100 * mixed(i * i + 3)).toFixed(1)}`;
});

/** 120 cities, of which each has five rows. */
const cities = csv('city,size,note,kind', 600, (i) => `c${i % 120},${mixed(i)},words of row ${i},${'ab'[i % 2]}`);

const words = (i: number): string => `room ${i} was as quiet and warm as we hoped`;
/** Tables of reviews, with the roles of their columns and the inputs of the model. */
const texts = [
  {
    name: 'the only feature',
    content: csv('review,kind', 200, (i) => `${words(i)},${'ab'[i % 2]}`),
    roles: { review: 'text' },
    inputs: 'text',
    input: 'const [input] = [text]',
  },
  {
    name: 'beside numbers',
    content: csv('review,stars,price', 200, (i) => `${words(i)},${i % 5},${mixed(i) * i}`),
    roles: { review: 'text', stars: 'number' },
    inputs: '[features, ...texts]',
    input: "const texts = [tf.input({ name: 'review', shape: [64] })];",
  },
  {
    name: 'two',
    content: csv('review,answer,kind', 200, (i) => `${words(i)},${words(3 * i)},${'ab'[i % 2]}`),
    roles: { review: 'text', answer: 'text' },
    inputs: '[features, ...texts]',
    input: "const texts = [tf.input({ name: 'answer', shape: [64] })];",
  },
];

describe('a project from a table', () => {
  it('leaves out what no model learns from, and says so', async () => {
    const plan = await planOf(classes);
    expect(plan).toMatchObject({ targets: ['class'], task: 'classification', isStratified: true });
    expect(Object.fromEntries(plan.roles)).toEqual({
      id: 'ignore',
      [`it's a "size"`]: 'number',
      zip: 'number',
      port: 'category',
      note: 'ignore',
    });
    expect(plan.decisions.join('\n')).toMatch(/Leaves out "id": .*counts the rows/);
    expect(plan.decisions.join('\n')).toMatch(/Leaves out "note": /);
    // What nobody decided stays open.
    expect(plan.open.map(({ kind, column }) => `${kind} ${column}`)).toEqual(['codes zip']);
  });

  it('says that it leaves out a column without a name and empty rows', async () => {
    const { decisions, roles } = await planOf(csv(',x,y', 40, (i) => `${i},${mixed(i)},${'ab'[i % 2]}`) + '\n,,');
    expect([...roles.keys()]).toEqual(['x']);
    expect(decisions).toContain('Left out: 1 column without a name and 1 row without a value.');
  });

  it('writes every option of the reading, also those that were found out', async () => {
    const plan = await planOf(classes, { roles: { zip: 'category', id: 'number' } });
    const source = projectSource(plan, 'd.csv', 'My plants');
    for (const option of [
      "name: 'My plants'",
      "delimiter: ','",
      'header: true',
      'commentLines: 0',
      "missingValues: ['', 'NA', 'N/A', 'NaN', 'nan', 'null', 'NULL', 'None', '?']",
      "id: 'number'",
      String.raw`'it\'s a "size"': 'number'`,
      "zip: 'category'",
      "note: 'ignore'",
      "class: 'category'",
      "target: 'class'",
      "targetKind: 'classes'",
      "missing: 'impute'",
      'stratify: true',
    ]) {
      expect(source).toContain(option);
    }
  });

  it('of numbers predicts their mean and variance, with weights, and groups in one split', async () => {
    const plan = await planOf(numbers, { roles: { who: 'group', w: 'weights' } });
    expect(plan).toMatchObject({ task: 'heteroscedastic-regression', group: 'who', weights: 'w', isStratified: false });
    const source = projectSource(plan, 'd.csv', 'Prices');
    for (const option of [
      "decimal: { amount: ',', price: ',' }",
      "dateFormat: { when: 'DD.MM.YYYY' }",
      "who: 'category'",
      "group: 'who'",
      "weights: 'w'",
      'standardizeTargets: true',
    ]) {
      expect(source).toContain(option);
    }
    expect(source).not.toContain('stratify');
  });

  it('of several targets predicts numbers, or labels of 0 and 1, in each row those that it has', async () => {
    const numbersOf = csv('x,a,b', 60, (i) => `${mixed(i)},${i % 2 ? mixed(2 * i) : ''},${i % 3 ? mixed(i * i) : ''}`);
    const plan = await planOf(numbersOf, { roles: { a: 'target' } });
    expect(plan).toMatchObject({ targets: ['b', 'a'], task: 'heteroscedastic-regression', isStratified: false });
    expect(plan.decisions).toContain('Each row counts for the targets that it has. Rows with a value: "b" 40, "a" 30.');
    const source = projectSource(plan, 'd.csv', 'x');
    for (const option of [
      "a: 'number'",
      "target: ['b', 'a']",
      "targetKind: 'values'",
      "missing: { a: 'mask', b: 'mask' }",
      'standardizeTargets: true',
      'The mean and the variance of "b" and "a" from 1 column of d.csv.',
    ]) {
      expect(source).toContain(option);
    }
    const labels = csv('x,a,b', 60, (i) => `${mixed(i)},${i % 2 ? 'true' : 'false'},${i % 3 ? Number(i % 4 > 1) : ''}`);
    const assays = await planOf(labels, { roles: { a: 'target' } });
    expect(assays.task).toBe('multi-label');
    const written = projectSource(assays, 'd.csv', 'x');
    expect(written).toContain("targetKind: 'labels',\n      missing: { b: 'mask' },\n      validation");
    expect(written).toContain("task: 'multi-label'");
    const classesOf = csv('x,a,b', 60, (i) => `${mixed(i)},${i % 2 ? 'u' : 'v'},${mixed(i * i)}`);
    await expect(planOf(classesOf, { roles: { a: 'target' } })).rejects.toThrow('true and false: "a" does not');
    await expect(planOf(numbersOf, { roles: { a: 'target' }, task: 'multi-label' })).rejects.toThrow('"b" does not');
    await expect(planOf(numbersOf, { task: 'multi-label' })).rejects.toThrow('there is one, "b"');
  });

  it('drops rows without a target, and imputes the rest', async () => {
    const holes = csv('a,b,y', 60, (i) => `${i % 7 ? mixed(i) : ''},${mixed(i * i)},${i % 5 ? mixed(2 * i) : ''}`);
    expect(projectSource(await planOf(holes), 'd.csv', 'x')).toContain("missing: { a: 'impute', y: 'drop' }");
    const grouped = csv('g,a,y', 60, (i) => `${i % 7 ? `p${i % 10}` : ''},${mixed(i)},${mixed(i * i)}`);
    const plan = await planOf(grouped, { roles: { g: 'group' } });
    expect(projectSource(plan, 'd.csv', 'x')).toContain("missing: { g: 'drop' }");
  });

  it('of a series is split by time, with the counts and the borders, and reads the rows in any order', async () => {
    // From 2024-02-09 back to 2024-01-01.
    const newestFirst = csv('day,x,kind', 40, (i) => {
      return `${new Date(Date.UTC(2024, 1, 9 - i)).toISOString().slice(0, 10)},${mixed(i)},${'ab'[i % 2]}`;
    });
    const plan = await planOf(newestFirst);
    expect(plan).toMatchObject({
      targets: ['kind'],
      task: 'classification',
      time: 'day',
      isStratified: false,
      open: [],
    });
    expect(plan.decisions.at(-1)).toBe(
      'The latest 8 rows by "day" test (from 2024-02-02), the 8 before them validate (from 2024-01-25), because the ' +
        'rows are the steps of a series.',
    );
    expect(splitCounts(plan)).toEqual({ train: 24, validation: 8, test: 8, isAbout: false });
    const source = projectSource(plan, 'd.csv', 'x');
    expect(source).toContain("time: 'day'");
    expect(source).toContain('from 1 column of d.csv');
    expect(source).not.toMatch(/fold|stratify/);
    const asFeature = await planOf(newestFirst, { roles: { day: 'date' } });
    expect(asFeature).toMatchObject({ time: null, isStratified: true });
  });

  it('of a series is a forecast, with a border between entities and at gaps', async () => {
    const plan = await planOf(hours);
    expect(plan).toMatchObject({ targets: ['load'], task: 'forecast', time: 'hour', group: 'station', open: [] });
    expect(plan.forecast).toEqual({
      columns: ['load', 'wind'],
      time: 'hour',
      entity: 'station',
      length: 24,
      period: 'a day',
      gaps: 'cut',
    });
    expect(plan.decisions.slice(1, -1)).toEqual([
      'Leaves out "weather": it holds no numbers, of which the steps of a series consist.',
      'Forecasts "load" one step ahead from the last 24 steps (a day), because the rows are the steps of a series. No ' +
        'window crosses from one "station" to the next or a gap.',
    ]);
    // 200 hours, 25 of them of the gap: the last 40 begin with hour 160, at 184 hours.
    expect(plan.decisions.at(-1)).toContain('The latest 80 rows by "hour" test (from 2024-01-08T16:00:00Z)');
    const source = projectSource(plan, 'd.csv', 'Load');
    for (const option of [
      "seriesOf(table, ['load', 'wind'], { time: 'hour', entity: 'station' })",
      "{ ...series, length: steps, targetColumns: [0], gaps: 'cut' }",
      '{ validation: 0.2, test: 0.2 }',
      "weather: 'ignore'",
      "station: 'category'",
    ]) {
      expect(source).toContain(option);
    }
    const asRows = await planOf(hours, { task: 'heteroscedastic-regression' });
    expect(asRows).toMatchObject({ time: 'hour', group: null, forecast: null });
    expect(asRows.roles.get('station')).toBe('category');
  });

  it('of numbers that are years has no usual period, and numbers of other names are features', async () => {
    const years = csv('year,y', 60, (i) => `${1950 + i},${mixed(i)}`);
    const plan = await planOf(years);
    // Of 60 steps a window has a fifth.
    expect(plan.forecast).toMatchObject({ columns: ['y'], time: 'year', length: 12, period: null, gaps: null });
    expect(await planOf(years.replace('year', 'depth'))).toMatchObject({ forecast: null, time: null });
    const ofDay = csv('hour,y', 60, (i) => `${i % 24},${mixed(i)}`);
    expect((await planOf(ofDay)).roles.get('hour')).toBe('number');
  });

  it.each<[why: string, change: (line: string, i: number) => string, message: string]>([
    ['a target with holes', (line, i) => (i === 9 ? line.replace(/[^,]+$/, '') : line), '"load" has no value in 1 row'],
    ['the same time twice', (line, i) => (i === 9 ? `${line}\n${line}` : line), 'rows have the same "hour"'],
    ['no even steps', (line, i) => (i % 3 === 0 || i < 9 ? line : ''), 'no column holds times in steps'],
  ])('is no forecast with %s', async (_, change, message) => {
    const lines = hours
      .split('\n')
      .map(change)
      .filter((line) => line !== '');
    const content = lines.join('\n');
    expect((await planOf(content)).task).not.toBe('forecast');
    await expect(planOf(content, { task: 'forecast' })).rejects.toThrow(message);
  });

  it('is split by numbers too, where these are the time, without rows that have none', async () => {
    const years = csv('year,x,y', 50, (i) => `${i % 10 === 9 ? '' : 1950 + (i % 25)},${mixed(i)},${mixed(i * i)}`);
    const plan = await planOf(years, { roles: { year: 'time' } }, { time: 'year' });
    // 45 rows have a year, two of each but one of 1954, 1959, 1964, 1969 and 1974: the latest 9 are of 1970 to 1974.
    expect(splitCounts(plan)).toEqual({ train: 27, validation: 9, test: 9, isAbout: false });
    expect(projectSource(plan, 'd.csv', 'x')).toContain("missing: { year: 'drop' }");
    expect(plan.decisions.at(-1)).toBe(
      'The latest 9 rows by "year" test (from 1970), the 9 before them validate (from 1965), because you say so.',
    );
  });

  it.each(texts)('reads texts of eight words: $name', async ({ content, roles, inputs, input }) => {
    const plan = await planOf(content);
    expect(Object.fromEntries(plan.roles)).toEqual(roles);
    expect(plan.decisions.join('\n')).toContain('Reads the first 64 words of "review".');
    const source = projectSource(plan, 'd.csv', 'x');
    expect(source).toContain('text: { review: { size: 5000, length: 64 }');
    expect(source).toContain("review: 'text'");
    expect(source).toContain(`tf.model({ inputs: ${inputs}, outputs: `);
    expect(source).toContain(input);
  });

  it('reads shorter texts only where the user says so', async () => {
    const content = csv('name,x,y', 200, (i) => `a name of ${i},${mixed(i)},${'ab'[i % 2]}`);
    expect((await planOf(content)).roles.get('name')).toBe('ignore');
    const plan = await planOf(content, { roles: { name: 'text' } }, { columns: { name: 'text' } });
    expect(projectSource(plan, 'd.csv', 'x')).toContain('text: { name: { size: 5000, length: 64 } }');
  });

  it('embeds columns of many categories', async () => {
    const plan = await planOf(cities);
    expect(plan.roles.get('city')).toBe('category');
    expect(projectSource(plan, 'd.csv', 'x')).toContain('const input = embedCategories(features, categories);');
    const both = await planOf(cities, { roles: { note: 'text' } });
    expect(projectSource(both, 'd.csv', 'x')).toContain('.apply([embedCategories(features, categories), ...words])');
    const few = await planOf(classes, { roles: { zip: 'category' } });
    expect(projectSource(few, 'd.csv', 'x')).not.toContain('embedCategories');
  });

  it('has no errors of types', { timeout: 300_000 }, async () => {
    const plans = [
      ...(await Promise.all(texts.map(({ content }) => planOf(content)))),
      await planOf(classes),
      await planOf(numbers, { roles: { who: 'group', w: 'weights' } }),
      await planOf(hours),
      await planOf(cities),
      await planOf(cities, { roles: { note: 'text' } }),
    ];
    const sources = plans.map((plan, i): [string, string] => [
      join(root, 'docs', `planned-${i}.ts`),
      projectSource(plan, `it's "d".csv`, `A 'name'`),
    ]);
    expect(typeErrors(new Map(sources))).toEqual([]);
  });

  it.each<[why: string, content: string, choices: PlanChoices, message: string]>([
    [
      'two groups',
      numbers,
      { roles: { who: 'group', w: 'group' } },
      'who and w are to be group: only one column can be',
    ],
    [
      'a group and a time',
      numbers,
      { roles: { who: 'group', when: 'time' } },
      'Rows are split either by the time "when" or by the group "who"',
    ],
    [
      'a column that is not there',
      classes,
      { roles: { nope: 'ignore' } },
      'There is no column "nope". The columns are id, ',
    ],
    ['a regression of words', classes, { task: 'heteroscedastic-regression' }, '"class" holds no numbers'],
    [
      'nothing to learn from',
      csv('id,y', 40, (i) => `${i},${'ab'[i % 2]}`),
      {},
      'No column is left from which to predict "y"',
    ],
    [
      'names of images alone',
      csv('file,y', 40, (i) => `photos/${i}.jpg,${'ab'[i % 2]}`),
      {},
      'No column is left from which to predict "y". "file" names images, such as "photos/',
    ],
    ['no target', csv('a,b', 40, (i) => `${i},5`), {}, 'No column can be the target'],
  ])('is refused with %s', async (_, content, choices, message) => {
    await expect(planOf(content, choices)).rejects.toThrow(message);
  });
});
