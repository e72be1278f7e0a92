import { describe, expect, it } from 'vitest';
import { metricValues, train, useHub } from './harness.ts';

const { hub } = useHub();

describe('projects that read sequences', () => {
  it('forecast a series with its uncertainty', async () => {
    const { record, folder } = await train(hub(), 'sunspots', { members: 2, devices: 2, seed: 1 });
    expect(record).toMatchObject({ status: 'finished', error: null });
    const nll = metricValues(folder, 'val/ens_nll').map(Number);
    expect(nll.at(-1)).toBeLessThan(nll[0]);
    const final = record.summary?.evaluatedSets.find(({ set }) => set === 'final');
    expect(final?.split).toBe('test');
    // Targets have variance 1 on training, and most of it is the cycle of eleven years.
    expect(final?.ensemble.mse).toBeLessThan(1);
  });

  it('classify texts of different lengths, whose order of words counts', async () => {
    const { record, folder } = await train(hub(), 'reviews', { members: 2, devices: 2, seed: 2 });
    expect(record).toMatchObject({ status: 'finished', error: null });
    // Without the order, nothing is better than a coin.
    expect(Number(metricValues(folder, 'val/ens_acc').at(-1))).toBeGreaterThan(0.9);
  });
});
