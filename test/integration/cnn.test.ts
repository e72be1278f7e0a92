import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startRun, useHub } from './harness.ts';

const sharedData = resolve(import.meta.dirname, '../../../shared/data');
const files = ['images-idx3', 'labels-idx1'].map((part) => `${sharedData}/mnist/t10k-${part}-ubyte.gz`);
const isThere = files.every(existsSync);
const { hub } = useHub();

describe('two convolutional members on MNIST, for one epoch', () => {
  it.skipIf(!isThere)(
    `learn, and have a better NLL together than on average${isThere ? '' : ' (left out: no ../shared/data/mnist)'}`,
    async () => {
      process.env.TUTTI_DATA = sharedData;
      const run = await startRun(hub(), 'cnn', { members: 2, devices: 2, logEverySteps: 10 });
      const record = await run.ended;
      expect(record).toMatchObject({ status: 'finished', error: null });
      const losses = trainLosses(run.folder);
      expect(losses.length).toBeGreaterThan(4);
      expect(losses[losses.length - 1]).toBeLessThan(losses[0] / 2);
      for (const { set, ensemble, members } of record.summary?.evaluatedSets ?? []) {
        expect(ensemble.nll, set).toBeLessThan(members.nll.reduce((sum, nll) => sum + nll) / 2);
        // Four thousand digits and one epoch; chance has 10 %.
        expect(ensemble.acc, set).toBeGreaterThan(0.85);
      }
    },
  );
});

/** The first rank's training losses in the order of steps. */
function trainLosses(folder: string): number[] {
  const [header, ...rows] = readFileSync(join(folder, 'metrics.csv'), 'utf8').trim().split('\n');
  const column = header.split(',').findIndex((name) => name.startsWith('train/') && name.includes('loss'));
  return rows.flatMap((row) => {
    const cell = row.split(',')[column];
    return cell === undefined || cell === '' ? [] : [Number(cell)];
  });
}
