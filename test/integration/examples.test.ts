import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { train, useHub } from './harness.ts';

const examples = resolve(import.meta.dirname, '../../examples');
const sharedData = resolve(import.meta.dirname, '../../../shared/data');
const hasCifar = existsSync(join(sharedData, 'cifar10', 'data_batch_1.bin'));
const hasMnist = existsSync(join(sharedData, 'mnist'));
const pngSignature = '89504e470d0a1a0a';
const { hub } = useHub();

/** Shortened: what the examples show is in their READMEs; here they must run, end and draw. */
describe('the examples', () => {
  it('00: trains, decomposes its uncertainty on the test grid, and draws it', async () => {
    const { record, folder } = await train(hub(), join(examples, '00_heteroscedastic_regression'), {
      members: 2,
      devices: 2,
      maxEpochs: 200,
      evaluateEveryEpochs: 100,
    });
    expect(record).toMatchObject({ status: 'finished', error: null });
    const final = record.summary?.evaluatedSets.find(({ set }) => set === 'final');
    expect(final).toMatchObject({ split: 'test', epochs: [199, 199] });
    // The ensemble's error is the members' mean error less their spread (Krogh and Vedelsby, 1994).
    const { mse, avg_member_mse: average, ensemble_gain: gain } = final?.ensemble ?? {};
    expect(average - gain).toBeCloseTo(mse, 6);
    expect(gain).toBeGreaterThan(0);
    expectFigure(folder, 'ensemble-predictions');
  });

  it.skipIf(!hasCifar)(
    `01: stops jointly, compares both sets, and draws six panels${hasCifar ? '' : ' (left out: no ../shared/data/cifar10)'}`,
    async () => {
      process.env.TUTTI_DATA = sharedData;
      const { record, folder } = await train(hub(), join(examples, '01_joint_early_stopping'), {
        members: 2,
        devices: 2,
        maxEpochs: 30,
        optimizer: { kind: 'adam', learningRate: 0.05 },
        earlyStopping: { enabled: true, patience: 2 },
        hyperparameters: { width: 16 },
      });
      expect(record).toMatchObject({ status: 'finished', error: null });
      expect(record.summary?.stopReason).toBe('early-stopping');
      expect(record.summary?.evaluatedSets.map(({ set }) => set)).toEqual(['final', 'ensemble-best', 'member-best']);
      expectFigure(folder, 'joint-early-stopping');
    },
  );

  it.skipIf(!hasMnist)(
    `07: trains on broadcast batches, and draws its uncertainty${hasMnist ? '' : ' (left out: no ../shared/data/mnist)'}`,
    async () => {
      process.env.TUTTI_DATA = sharedData;
      const { record, folder } = await train(hub(), join(examples, '07_parallel_ensemble'), {
        members: 2,
        devices: 2,
        maxSteps: 20,
        data: { mode: 'broadcast' },
      });
      expect(record).toMatchObject({ status: 'finished', error: null });
      expectFigure(folder, 'predictive-entropy');
    },
  );
});

function expectFigure(folder: string, name: string): void {
  expect(
    readFileSync(join(folder, 'plots', `${name}.png`))
      .subarray(0, 8)
      .toString('hex'),
  ).toBe(pngSignature);
  expect(readFileSync(join(folder, 'plots', `${name}.svg`), 'utf8')).toMatch(/^<svg [^]*<\/svg>\s*$/);
}
