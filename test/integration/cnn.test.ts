import { describe, expect, it } from 'vitest';
import { samples } from '../samples/samples.ts';
import { metricValues, train, useHub } from './harness.ts';

const { hub } = useHub();

describe('two convolutional members on MNIST', () => {
  it('learn, are better together than on average, and differ', async () => {
    process.env.TUTTI_DATA = samples;
    const { record, folder } = await train(hub(), 'cnn', { members: 2, devices: 2, logEverySteps: 4 });
    expect(record).toMatchObject({ status: 'finished', error: null });
    for (const rank of [0, 1]) {
      const losses = metricValues(folder, `train/member_${rank}_loss`).map(Number);
      // 800 digits, 25 per step, 3 epochs: every fourth of 96 steps.
      expect(losses).toHaveLength(24);
      expect(losses[23]).toBeLessThan(losses[0] / 2);
    }
    const sets = record.summary?.evaluatedSets ?? [];
    expect(sets.map(({ set }) => set)).toEqual(['final', 'ensemble-best', 'member-best']);
    for (const { set, ensemble, members } of sets) {
      // By Jensen's inequality it cannot be worse. Identical members would make both equal.
      expect(ensemble.nll, set).toBeLessThan((members.nll[0] + members.nll[1]) / 2 - 1e-3);
      expect(ensemble.disagreement, set).toBeGreaterThan(0);
      // The most frequent digit makes up 12 %.
      expect(ensemble.acc, set).toBeGreaterThan(0.8);
    }
  });
});
