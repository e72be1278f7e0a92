import { describe, expect, it } from 'vitest';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import { TableLosses } from '../../../workers/inference/table-losses.ts';

/** Training had sizes from 2 to 8, and days from 2026-01-01 (day 20454) to 2026-01-31. */
const preprocessing: Preprocessing = {
  format: 1,
  steps: [
    {
      kind: 'table',
      columns: [
        {
          name: 'size',
          type: 'number',
          impute: { value: 5, indicator: true },
          mean: 5,
          std: 3,
          smallest: 2,
          largest: 8,
        },
        { name: 'when', type: 'date', impute: null, mean: 0, std: 1, smallest: 20_454, largest: 20_484 },
      ],
    },
  ],
};

const table = (sizes: number[], days: number[]) => ({
  name: 'new.csv',
  length: sizes.length,
  columns: [
    { name: 'size', type: 'number' as const, values: Float64Array.from(sizes) },
    { name: 'when', type: 'date' as const, values: Float64Array.from(days) },
  ],
});

describe('values outside the range of the training data', () => {
  it('are counted by column over all blocks, with the farthest; missing ones are not among them', () => {
    const losses = new TableLosses(preprocessing);
    losses.add(table([2, 8, Number.NaN], [20_454, 20_484, 20_470]));
    expect(losses.warnings()).toMatchObject([{ column: 'size', missing: 1, outside: 0, outsideValues: [] }]);
    losses.add(table([1.5, 9], [20_485, 20_460]));
    losses.add(table([-3], [20_460]));
    const none = { mistyped: 0, mistypedValues: [], unseen: 0, unseenValues: [] };
    expect(losses.warnings()).toEqual([
      { column: 'size', rows: 6, missing: 1, ...none, outside: 3, outsideValues: ['-3', '9'] },
      { column: 'when', rows: 6, missing: 0, ...none, outside: 1, outsideValues: ['2026-02-01'] },
    ]);
    expect(losses.sentences().slice(1)).toEqual([
      'Column "size": 3 of 6 rows have values outside the range of the training data, 2 to 8 (-3 to 9). The models ' +
        'did not learn from such values.',
      'Column "when": 1 of 6 rows have values outside the range of the training data, 2026-01-01 to 2026-01-31 ' +
        '(2026-02-01). The models did not learn from such values.',
    ]);
  });
});
