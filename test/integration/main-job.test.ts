import { describe, expect, it } from 'vitest';
import { samples } from '../samples/samples.ts';
import { train, useHub } from './harness.ts';

const { hub } = useHub();

describe('two members on MNIST (600 digits to train on, 400 to test)', () => {
  it('have a better NLL as an ensemble than either alone', async () => {
    process.env.TUTTI_DATA = samples;
    const { record } = await train(hub(), 'digits', { members: 2, devices: 2 });
    expect(record).toMatchObject({ status: 'finished', error: null });
    const sets = record.summary?.evaluatedSets ?? [];
    expect(sets.map(({ set, split }) => [set, split])).toEqual([
      ['final', 'test'],
      ['ensemble-best', 'test'],
      ['member-best', 'test'],
    ]);
    for (const { set, ensemble, members } of sets) {
      expect(members.nll, set).toHaveLength(2);
      expect(ensemble.nll, set).toBeLessThan(Math.min(...members.nll));
      // The most frequent digit makes up 12 %.
      expect(Math.min(...members.acc), set).toBeGreaterThan(0.8);
    }
  });
});
