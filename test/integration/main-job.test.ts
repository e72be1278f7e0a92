import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { train, useHub } from './harness.ts';

const sharedData = resolve(import.meta.dirname, '../../../shared/data');
const files = ['images-idx3', 'labels-idx1'].map((part) => `${sharedData}/mnist/t10k-${part}-ubyte.gz`);
const isThere = files.every(existsSync);
const { hub } = useHub();

describe('two members on MNIST (8,000 digits to train on, 1,000 to test)', () => {
  it.skipIf(!isThere)(
    `have, as an ensemble, a better NLL than either alone${isThere ? '' : ' (left out: no ../shared/data/mnist)'}`,
    async () => {
      process.env.TUTTI_DATA = sharedData;
      const { record } = await train(hub(), 'digits', { members: 2, devices: 2 });
      expect(record).toMatchObject({ status: 'finished', error: null });
      for (const { set, split, ensemble, members } of record.summary?.evaluatedSets ?? []) {
        expect(split, set).toBe('test');
        expect(ensemble.nll, set).toBeLessThan(Math.min(...members.nll));
        // A linear classifier errs on 12 % of MNIST (LeCun et al., 1998, figure 9): these are no linear ones.
        for (const accuracy of members.acc) expect(accuracy, set).toBeGreaterThan(0.88);
      }
      expect(record.summary?.evaluatedSets).toHaveLength(3);
    },
  );
});
