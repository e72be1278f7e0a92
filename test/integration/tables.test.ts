import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { preprocessingSchema } from '../../core/preprocessing/schema.ts';
import { predictRun } from '../../src-main/predictions/predict-run.ts';
import { expectKeptAmong } from './expect-predicted.ts';
import { metricValues, projectFolder, train, useHub } from './harness.ts';
import { expectSameAsOnnx } from './onnx.ts';

const { hub } = useHub();

describe('a table with categories and missing values', () => {
  it('trains as an ensemble with weighted classes, and keeps what was fitted', async () => {
    const { record, folder } = await train(hub(), 'passengers', { members: 2, devices: 2, seed: 3 });
    expect(record.status).toBe('finished');
    expect(metricValues(folder, 'val/ens_nll')).toHaveLength(2);
    const text = await readFile(join(folder, 'preprocessing.json'), 'utf8');
    const { steps, target } = preprocessingSchema.parse(JSON.parse(text));
    expect(target).toEqual({ kind: 'classes', column: 'class', classNames: ['first', 'second', 'third'] });
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
    expect(report).toEqual({ rows: 40, set: 'final', warnings: [] });
    await expectKeptAmong(output, folder, 'test', ['first', 'second', 'third']);
    await writeFile(join(folder, 'wrong.csv'), 'fare,age\n1,2\n');
    const wrong = {
      folder,
      input: join(folder, 'wrong.csv'),
      output: join(folder, 'wrong-out.csv'),
      format: 'csv' as const,
    };
    await expect(predictRun(wrong)).rejects.toThrow('has no column "port"');
    await expect(predictRun({ ...wrong, output })).rejects.toThrow('exists. Choose another file');
    const feeds = {
      fare: { shape: [2, 1], data: Float64Array.of(7.25, 71.3) },
      age: { shape: [2, 1], data: Float64Array.of(22, NaN) },
      port: { shape: [2, 1], data: ['S', 'unknown'] },
      alone: { shape: [2, 1], data: Float64Array.of(1, 0) },
      // 10 April 1912, in days since 1970.
      boarded: { shape: [2, 1], data: Float64Array.of(-21_085, -21_085) },
    };
    const boarded = '1912-04-10';
    const rows = [
      { fare: 7.25, age: 22, port: 'S', alone: true, boarded },
      { fare: 71.3, age: null, port: 'unknown', alone: false, boarded },
    ];
    const outputs = await expectSameAsOnnx(folder, feeds, { rows });
    expect(outputs.sort()).toEqual(['entropy', 'mean', 'members', 'mutual_information']);
  });
});
