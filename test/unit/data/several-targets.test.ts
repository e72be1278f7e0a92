import { describe, expect, it } from 'vitest';
import { parseTable } from '../../../workers/data/tables/read-table.ts';
import { tableSplits } from '../../../workers/data/tables/table-splits.ts';

const parse = (text: string) => parseTable(Buffer.from(text), 'd.csv');

describe('targets with holes', () => {
  it('are masked, each by itself, and scaled by their values', async () => {
    const table = await parse('x,t,u\n1,2,\n2,,3\n3,4,5\n4,,\n5,6,7\n');
    const options = { seed: 1, target: ['t', 'u'], standardizeTargets: true } as const;
    const { train, preprocessing } = tableSplits(table, { ...options, missing: { t: 'mask', u: 'mask' } });
    expect(train.length).toBe(4);
    expect([...(train.mask ?? [])]).toEqual([1, 0, 0, 1, 1, 1, 1, 1]);
    // t: 2, 4, 6; u: 3, 5, 7.
    expect(preprocessing?.target).toMatchObject({ mean: [4, 5], std: [Math.sqrt(8 / 3), Math.sqrt(8 / 3)] });
    expect(train.targets[1]).toBe(0);
    expect(() => tableSplits(table, { ...options, missing: 'impute' })).toThrow(
      "'mask', ... } to learn from the other",
    );
    expect(() => tableSplits(table, { ...options, target: 'x', missing: { t: 'mask', u: 'drop' } })).toThrow('"t"');
  });

  it('may be labels, which have the names of the columns', async () => {
    const table = await parse('x,toxic,active\n1,1,\n2,,0\n3,0,1\n4,1,1\n');
    const options = {
      seed: 1,
      target: ['toxic', 'active'],
      targetKind: 'labels',
      missing: { toxic: 'mask', active: 'mask' },
    } as const;
    const { train, preprocessing } = tableSplits(table, options);
    expect(train).toMatchObject({ classNames: ['toxic', 'active'], mask: Uint8Array.of(1, 0, 0, 1, 1, 1, 1, 1) });
    expect([...train.targets]).toEqual([1, 0, 0, 0, 0, 1, 1, 1]);
    expect(preprocessing?.target).toEqual({ kind: 'values', columns: ['toxic', 'active'], mean: [0, 0], std: [1, 1] });
    const counts = await parse('x,toxic,active\n1,2,0\n2,0,1\n');
    expect(() => tableSplits(counts, options)).toThrow('Target "toxic" of d.csv holds 2. A label is 0 or 1');
  });
});
