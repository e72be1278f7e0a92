import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { preprocessingSchema } from '../../core/preprocessing/schema.ts';
import { predictRun } from '../../src-main/predictions/predict-run.ts';
import { type CellContent, dated, failed, workbookBytes } from '../unit/data/workbook-bytes.ts';
import { runCommand } from './damages/run-command.ts';
import { train, useHub } from './harness.ts';

const { hub, home } = useHub();

const mixed = (i: number): number => ((i * 7919) % 101) / 100;
const csv = (head: string, rows: number, row: (i: number) => string): string =>
  [head, ...Array.from({ length: rows }, (_, i) => row(i))].join('\n');

/** Tables as people have them, with the flags that they need. */
const tables: Record<string, { content: string | Buffer; flags: string[]; columns: string[] }> = {
  'classes, an id and missing cells': {
    content: csv(
      'id,size,port,class',
      90,
      (i) => `${i},${mixed(i)},${i % 9 ? 'ab'[i % 2] : ''},${mixed(3 * i) > 0.5 ? '+' : '-'}`,
    ),
    flags: [],
    columns: ['size', 'port'],
  },
  'numbers with decimal commas, in Windows-1252': {
    content: Buffer.from(
      csv('Größe;Preis', 90, (i) => `${mixed(i)},5;${Math.round(500 * mixed(i))},75`.replaceAll('.', '')),
      'latin1',
    ),
    flags: ['--encoding', 'windows-1252'],
    columns: ['Größe'],
  },
  'rows with a time': {
    content: csv('when,x,y', 90, (i) => {
      return `${new Date(Date.UTC(2020, 0, 1 + ((i * 37) % 90) ** 2)).toISOString()},${mixed(i)},${mixed(i * i + 2)}`;
    }),
    flags: ['--column', 'when=time'],
    columns: ['x'],
  },
  'rows of patients': {
    content: csv(
      'patient_id,dose,weight,effect',
      90,
      (i) => `p${i % 12},${mixed(i)},${(i % 3) + 1},${mixed(i * i + 2)}`,
    ),
    flags: ['--column', 'patient_id=group', '--column', 'weight=weights', '--target', 'effect'],
    columns: ['dose'],
  },
  'assays of which each row has some': {
    content: csv(
      'x,z,t1,t2,t3',
      90,
      (i) => `${mixed(i)},${mixed(i * i)},${[i, i + 1, i + 2].map((k) => (k % 3 ? '' : mixed(i + k))).join(',')}`,
    ),
    flags: ['--target', 't1', '--target', 't2', '--target', 't3'],
    columns: ['x', 'z'],
  },
  'labels of which each row has some': {
    content: csv(
      'x,toxic,active',
      90,
      (i) => `${mixed(i)},${i % 3 ? Number(mixed(i) > 0.5) : ''},${i % 4 ? Number(mixed(i) > 0.3) : ''}`,
    ),
    flags: ['--target', 'toxic', '--target', 'active'],
    columns: ['x'],
  },
  'reviews beside a number': {
    content: csv('review,stars,y', 90, (i) => {
      return `the ${['red', 'blue', 'green'][i % 3]} room ${i} was as quiet as it could be,${i % 5},${'ab'[i % 2]}`;
    }),
    flags: ['--column', 'review=text'],
    columns: ['stars'],
  },
};

it.each(Object.keys(tables))('a project from %s trains, and predicts its own file', async (name) => {
  const { content, flags, columns } = tables[name];
  const table = join(home(), 'd.csv');
  await writeFile(table, content);
  const project = join(home(), name.replaceAll(/\W+/g, '-'));
  const { code, output } = await runCommand(['create', project, '--from', table, ...flags]);
  expect([code, output]).toEqual([0, expect.stringContaining('which is trusted')]);
  const { record, folder } = await train(hub(), project, { members: 2, maxEpochs: 2 });
  expect(record.error).toBeNull();
  expect(record.status).toBe('finished');
  const kept = preprocessingSchema.parse(JSON.parse(await readFile(join(folder, 'preprocessing.json'), 'utf8')));
  expect(kept.steps.flatMap((step) => (step.kind === 'table' ? step.columns.map((own) => own.name) : []))).toEqual(
    columns,
  );
  const predicted = join(folder, 'predicted.csv');
  const report = await predictRun({ folder, input: table, output: predicted, format: 'csv', set: 'final' });
  expect(report.rows).toBe(90);
});

it('the commands of the README make a project, train it, calibrate it and predict', async () => {
  const readme = await readFile('README.md', 'utf8');
  const block = readme.slice(readme.indexOf('## Begin with your data')).split('```')[1];
  const commands = [...block.matchAll(/^npx tutti ([^#\n]+)/gm)].map(([, words]) => words.trim().split(' '));
  expect(commands.map(([name]) => name)).toEqual(['create', 'train', 'calibrate', 'predict']);
  const names: Record<string, string> = {
    'my-digits': join(home(), 'my-digits'),
    'answers.csv': join(home(), 'a.csv'),
  };
  for (const words of commands) {
    const { code, output } = await runCommand(words.map((word) => names[word] ?? word));
    expect([words[0], code, output]).toEqual([words[0], 0, output]);
  }
  const answers = await readFile(join(home(), 'a.csv'), 'utf8');
  expect(answers.trim().split('\n')).toHaveLength(1 + 1797);
});

it('a project from the series of two places, the newest first, trains, and forecasts each from its last steps', async () => {
  const days = (count: number): string =>
    csv('day,place,level', 2 * count, (i) => {
      const day = count - 1 - Math.floor(i / 2);
      const level = 5 * (i % 2) + Math.sin(day / 3) + mixed(i) / 10;
      return `${new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10)},${['north', 'south'][i % 2]},${level}`;
    });
  const table = join(home(), 'levels.csv');
  await writeFile(table, days(120));
  const project = join(home(), 'levels');
  const { code, output } = await runCommand(['create', project, '--from', table]);
  expect([code, output]).toEqual([0, expect.stringContaining('Forecasts "level" one step ahead')]);
  const { record, folder } = await train(hub(), project, { members: 2, maxEpochs: 2 });
  expect([record.error, record.status]).toEqual([null, 'finished']);
  const kept = preprocessingSchema.parse(JSON.parse(await readFile(join(folder, 'preprocessing.json'), 'utf8')));
  expect(kept.steps.map(({ kind }) => kind)).toEqual(['series', 'standardize']);
  const input = join(home(), 'new.csv');
  await writeFile(input, days(60));
  const predicted = join(folder, 'predicted.csv');
  const report = await predictRun({ folder, input, output: predicted, format: 'csv', set: 'final' });
  expect([report.rows, report.warnings]).toEqual([2, []]);
  const [header, ...rows] = (await readFile(predicted, 'utf8')).trimEnd().split('\n');
  expect(header).toMatch(/^place,after day,mean,/);
  expect(rows.map((row) => row.split(',').slice(0, 2))).toEqual([
    ['north', '2024-02-29'],
    ['south', '2024-02-29'],
  ]);
});

it('a project from a sheet of a workbook trains, and predicts new samples of another workbook', async () => {
  const rows = (count: number): CellContent[][] => [
    ['Measured in May'],
    [],
    ['day', 'size', 'kind'],
    ...Array.from({ length: count }, (_, i): CellContent[] => [
      dated(45_292 + (i % 50)),
      i % 20 === 3 ? failed('#N/A') : mixed(i),
      mixed(i) > 0.5 ? 'large' : 'small',
    ]),
  ];
  const notes = { name: 'Notes', rows: [['by', 'whom']] };
  const table = join(home(), 'plants.xlsx');
  await writeFile(table, await workbookBytes({ sheets: [notes, { name: 'May', rows: rows(90) }] }));
  const project = join(home(), 'from-workbook');
  const refused = await runCommand(['create', project, '--from', table]);
  expect(refused.code).toBe(2);
  expect(refused.output).toContain('plants.xlsx has 2 sheets with values: "May", "Notes"');
  expect(refused.output).toContain('Say so with --sheet.');
  const unclear = await runCommand(['create', project, '--from', table, '--sheet', 'May']);
  expect([unclear.code, unclear.output]).toEqual([2, expect.stringContaining('Say so with --range.')]);
  const flags = ['--sheet', 'May', '--range', 'A3:C'];
  const inspected = await runCommand(['inspect', table, ...flags, '--json']);
  expect(JSON.parse(inspected.output)).toMatchObject({
    reading: { rows: 90, sheet: 'May', range: 'A3:C', header: true },
    target: { name: 'kind' },
  });
  const made = await runCommand(['create', project, '--from', table, ...flags]);
  expect([made.code, made.output]).toEqual([0, expect.stringContaining('which is trusted')]);
  const code = await readFile(join(project, 'project.ts'), 'utf8');
  expect(code).toContain("sheet: 'May',\n      range: 'A3:C',\n      header: true,");
  const { record, folder } = await train(hub(), project, { members: 2, maxEpochs: 2 });
  expect([record.error, record.status]).toEqual([null, 'finished']);
  const kept = preprocessingSchema.parse(JSON.parse(await readFile(join(folder, 'preprocessing.json'), 'utf8')));
  expect(kept.reading).toMatchObject({ sheet: 'May', range: 'A3:C' });
  const input = join(home(), 'june.xlsx');
  await writeFile(input, await workbookBytes({ sheets: [{ name: 'June', rows: rows(7) }] }));
  const output = join(folder, 'predicted.csv');
  expect((await predictRun({ folder, input, output, format: 'csv', set: 'final' })).rows).toBe(7);
});

it('cells that do not fit are settled by the type of their column, or by leaving it out', async () => {
  const table = join(home(), 'd.csv');
  await writeFile(
    table,
    csv('a,x,y', 40, (i) => `${i % 10 === 3 ? 'n/k' : i * 3},${mixed(i)},${mixed(i * i + 1)}`),
  );
  const refused = await runCommand(['create', join(home(), 'misfits'), '--from', table]);
  expect(refused.code).toBe(2);
  expect(refused.output).toContain('Say so with --missing, or --column name=category.');
  for (const role of ['category', 'ignore']) {
    const project = join(home(), `misfits-${role}`);
    const made = await runCommand(['create', project, '--from', table, '--column', `a=${role}`]);
    expect([made.code, made.output]).toEqual([0, expect.stringContaining('which is trusted')]);
    expect(await readFile(join(project, 'project.ts'), 'utf8')).toContain(`a: '${role}'`);
    const { record } = await train(hub(), project, { members: 1, maxSteps: 2 });
    expect(record.error).toBeNull();
  }
});

it('what can be understood in two ways is asked, or an error names the flag', async () => {
  const table = join(home(), 'd.csv');
  await writeFile(
    table,
    csv('d,y', 40, (i) => `0${(i % 9) + 1}/0${((i * 5) % 9) + 1}/2021,${mixed(i)}`),
  );
  const project = join(home(), 'asked');
  const refused = await runCommand(['create', project, '--from', table]);
  expect(refused.code).toBe(2);
  expect(refused.output).toMatch(/"0\d\/0\d\/2021" is .*Say so with --date-format\./);
  const { code } = await runCommand(['create', project, '--from', table, '--date-format', 'DD/MM/YYYY']);
  expect(code).toBe(0);
  expect(await readFile(join(project, 'project.ts'), 'utf8')).toContain("dateFormat: { d: 'DD/MM/YYYY' }");
  expect(await readFile(join(project, 'README.md'), 'utf8')).toContain('Predicts "y": it has the name of a target.');
});
