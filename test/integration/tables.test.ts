import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { preprocessingSchema } from '../../core/preprocessing/schema.ts';
import { metricValues, train, useHub } from './harness.ts';

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
  });
});
