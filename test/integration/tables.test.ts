import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { preprocessingSchema } from '../../core/preprocessing/schema.ts';
import { NewSamples } from '../../src-main/rpc/runs/new-samples.ts';
import { OwnSamples } from '../../src-main/predictions/own-samples.ts';
import { readPredictions } from '../../src-main/rpc/runs/predictions.ts';
import { predictRun } from '../../src-main/predictions/predict-run.ts';
import { expectKeptAmong } from './expect-predicted.ts';
import { metricValues, projectFolder, train, useHub } from './harness.ts';

const { hub } = useHub();

/**
 * Empty cells of the file, as counted by hand; one row of the test split has a port that training lacks; and the largest
 * fare and the two largest ages of the file are in other splits than that of training.
 */
const warnings = [
  expect.stringContaining('Of 40 rows, these have no value in a column: "age" 7, "port" 4.'),
  expect.stringContaining('Column "port": 1 of 40 rows have values that the training data lack'),
  expect.stringContaining(
    'Column "fare": 1 of 40 rows have values outside the range of the training data, 0.925 to 124.868 (140.325)',
  ),
  expect.stringContaining(
    'Column "age": 2 of 40 rows have values outside the range of the training data, 1 to 75 (77)',
  ),
];

describe('a table with categories and missing values', () => {
  it('trains as an ensemble with weighted classes, and keeps what was fitted', async () => {
    const { record, folder } = await train(hub(), 'passengers', { members: 2, devices: 2, seed: 3 });
    expect(record.status).toBe('finished');
    expect(metricValues(folder, 'val/ens_nll')).toHaveLength(2);
    const text = await readFile(join(folder, 'preprocessing.json'), 'utf8');
    const { steps, target, reading } = preprocessingSchema.parse(JSON.parse(text));
    expect(target).toEqual({ kind: 'classes', column: 'class', classNames: ['first', 'second', 'third'] });
    expect(reading).toMatchObject({
      file: 'passengers.csv',
      rows: 40,
      encoding: 'utf-8',
      delimiter: ',',
      header: true,
    });
    const events = await readFile(join(folder, 'events.jsonl'), 'utf8');
    expect(events).toMatch(/"kind":"data-note".*passengers\.csv: 40 rows, UTF-8, separated by commas/);
    const columns = steps.flatMap((step) => (step.kind === 'table' ? step.columns : []));
    expect(columns.map(({ name, type }) => [name, type])).toEqual([
      ['fare', 'number'],
      ['age', 'number'],
      ['port', 'category'],
      ['alone', 'boolean'],
      ['boarded', 'date'],
    ]);
    expect(columns[1].impute).toMatchObject({ indicator: true });

    const output = join(folder, 'predicted.jsonl');
    const input = join(projectFolder('passengers'), 'passengers.csv');
    const report = await predictRun({ folder, input, output, format: 'jsonl', set: 'final', withMembers: true });
    expect(report).toEqual({ rows: 40, set: 'final', warnings, first: [], inputs: [], outside: null });
    await expectKeptAmong(output, folder, 'test', ['first', 'second', 'third']);
    const strict = { folder, input, output: join(folder, 'strict.csv'), format: 'csv' as const, isStrict: true };
    await expect(predictRun(strict)).rejects.toThrow(
      /does not fit the training data:\n- .*"age" 7[^]*without --strict/,
    );
    expect(existsSync(strict.output)).toBe(false);
    await writeFile(join(folder, 'wrong.csv'), 'price,years\n1,2\n');
    const wrong = {
      folder,
      input: join(folder, 'wrong.csv'),
      output: join(folder, 'wrong-out.csv'),
      format: 'csv' as const,
    };
    await expect(predictRun(wrong)).rejects.toThrow('has no column "fare"');
    await expect(predictRun({ ...wrong, output })).rejects.toThrow('exists. Choose another file');
    await expectPagePredicts(record.id, folder, input);
    await expectOwnSamples(record.id, folder, input);
  });
});

/** Expects that a page gets what `tutti predict` writes, and the fields and the errors of this table. */
async function expectPagePredicts(id: string, folder: string, input: string): Promise<void> {
  const samples = new NewSamples(hub());
  const form = await samples.form(id);
  expect(form).toMatchObject({ set: 'ensemble-best', ranks: [0, 1], takesImages: false });
  expect(form.fields?.map(({ name, type, isOptional }) => [name, type, isOptional])).toEqual([
    ['fare', 'number', true],
    ['age', 'number', true],
    ['port', 'category', true],
    ['alone', 'boolean', true],
    ['boarded', 'date', true],
  ]);
  const output = join(folder, 'predicted-with-best.csv');
  await predictRun({ folder, input, output, format: 'csv', withMembers: true, withScores: true });
  const answer = await samples.predict(id, { ending: 'csv', bytes: new Uint8Array(await readFile(input)) });
  expect(answer).toMatchObject({ set: 'ensemble-best', rows: 40, warnings });
  const written = await readFile(output, 'utf8');
  // A small answer is sent to the page.
  expect(new TextDecoder().decode(answer.csv as Uint8Array)).toBe(written);
  expect(answer.inputs).toHaveLength(40);
  const [fare, age, port, , boarded] = readFileSync(input, 'utf8').split('\n')[2].split(',');
  expect(answer.inputs[1]).toEqual([
    {
      kind: 'row',
      name: null,
      hidden: 0,
      fields: [
        { name: 'fare', value: Number(fare) },
        { name: 'age', value: Number(age) },
        { name: 'port', value: port === '' ? null : port },
        { name: 'alone', value: 'false' },
        { name: 'boarded', value: boarded.slice(0, 16).replace('T', ' ') },
      ],
    },
  ]);
  const lines = written.trimEnd().split('\n');
  expect(answer.first.map(({ name }) => name).join(',')).toBe(lines[0]);
  // Files have 9 significant digits.
  const cellOf = (value: unknown) => (typeof value === 'number' ? String(Number(value.toPrecision(9))) : value);
  expect(answer.first.map(({ values }) => cellOf(values[39])).join(',')).toBe(lines[40]);
  const fileOf = (text: string) => ({ ending: 'csv', bytes: new TextEncoder().encode(text) }) as const;
  const { warnings: said } = await samples.predict(id, fileOf('fare,age\n1,2\n'));
  expect(said.map((warning) => warning.split('.')[0])).toEqual(
    ['port', 'alone', 'boarded'].map((name) => `Column "${name}" is absent: 1 of 1 rows have no value for it`),
  );
  await expect(samples.predict(id, fileOf('price,years\n1,2\n'))).rejects.toThrow('has no column "fare"');
  await samples.close();
}

/**
 * Expects that the process that predicts reads rows of the run's own split as the project's table has them, with the
 * targets that the run kept.
 */
async function expectOwnSamples(id: string, folder: string, input: string): Promise<void> {
  const lines = (await readFile(input, 'utf8')).trimEnd().split('\n');
  const samples = new OwnSamples();
  const { inputs, warnings } = await samples.read(folder, { split: 'test', samples: [3, 0] });
  await samples.close();
  expect(warnings).toEqual([]);
  expect(inputs.map(({ sample }) => sample)).toEqual([3, 0]);
  const kept = await readPredictions({ hub: hub() }, id, { split: 'test', name: 'final' });
  for (const { sample, parts } of inputs) {
    const values = parts.flatMap((part) => (part.kind === 'row' ? part.fields.map(({ value }) => value) : []));
    const cells = lines.map((line) => line.split(',')).find(([fare]) => Number(fare) === values[0]);
    expect(cells?.[1]).toBe(values[1] === null ? '' : Number(values[1]).toFixed(1));
    expect(cells?.[2]).toBe(values[2] ?? '');
    expect(cells?.[5]).toBe(kept?.classNames?.[kept.targets[sample]]);
  }
}
