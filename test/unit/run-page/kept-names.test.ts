import { describe, expect, it } from 'vitest';
import { chooseKept, inTime, spellKept } from '../../../src-renderer/views/run/ensemble/use-predictions.ts';
import { splitByHit } from '../../../src-renderer/views/run/figures/classification-figures.ts';

const names = [
  { split: 'test' as const, name: 'final', epoch: 9 },
  { split: 'validation' as const, name: 'epoch-00009', epoch: 9 },
  { split: 'validation' as const, name: 'epoch-00001', epoch: 1 },
];
const best = { split: 'validation' as const, name: 'best', epoch: 4 };

describe('kept predictions', () => {
  it('can be stepped through by epoch, validation first', () => {
    expect(inTime([best, ...names]).map(spellKept)).toEqual([
      'validation/epoch-00001',
      'validation/best',
      'validation/epoch-00009',
      'test/final',
    ]);
  });

  it('default to the best, or else the latest', () => {
    expect(chooseKept([...names, best], 'test/final')?.name).toBe('final');
    expect(chooseKept([...names, best], 'test/gone')?.name).toBe('best');
    expect(chooseKept(names.slice(1), '')?.name).toBe('epoch-00009');
    expect(chooseKept([], '')).toBeNull();
  });

  it("show the ensemble's best epoch if all were kept", () => {
    const outcome = { split: 'test' as const, name: 'ensemble-best', epoch: 1 };
    expect(chooseKept([outcome, ...names], '')).toEqual(names[2]);
    expect(chooseKept([outcome, names[1]], '')).toEqual(outcome);
  });

  it('split into right and wrong ones', () => {
    const [right, wrong] = splitByHit(Float64Array.of(1, 2, 3), Int32Array.of(0, 1, 0), Int32Array.of(0, 0, 0));
    expect([...right.values]).toEqual([1, 3]);
    expect([...wrong.values]).toEqual([2]);
  });
});
