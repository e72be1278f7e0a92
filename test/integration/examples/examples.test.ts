import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeGain } from '../../../core/protocol/run/ensemble-gain.ts';
import { writeMadeCifar10 } from '../../samples/samples.ts';
import { metricValues, train, useHub } from '../harness.ts';
import { expectFigure } from './expect-figure.ts';

const examples = resolve(import.meta.dirname, '../../../examples');
const { hub } = useHub();

/** Shortened. Their READMEs show the full results. The comparisons train the other examples. */
describe('the examples', () => {
  let data: string;
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'tutti-examples-'));
    await writeMadeCifar10(data, { train: 200, test: 50 });
    process.env.TUTTI_DATA = data;
  });
  afterAll(() => rm(data, { recursive: true }));

  it('digits: the ensemble has a smaller NLL than each member, and a smaller calibration error than they have on average', async () => {
    const { record } = await train(hub(), join(examples, 'digits'), { devices: 1, membersPerDevice: 5 });
    expect(record).toMatchObject({ status: 'finished', config: { determinism: 'deterministic' } });
    const final = record.summary?.evaluatedSets.find(({ set }) => set === 'final');
    const { nll, ece } = final?.members ?? {};
    expect(nll).toHaveLength(5);
    expect(final?.ensemble.nll).toBeLessThan(Math.min(...nll));
    expect(final?.ensemble.ece).toBeLessThan(ece.reduce((sum, value) => sum + value, 0) / 5);
    const said = final && describeGain(final);
    expect(said).toHaveLength(3);
    expect(said?.[0]).toContain('better than each of its 5 members');
  });

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
    const nll = metricValues(folder, 'val/ens_nll').map(Number);
    expect(nll).toHaveLength(2);
    expect(nll[1]).toBeLessThan(nll[0]);
    // Errors of members exceed the ensemble's by the spread of their predictions (Krogh and Vedelsby, 1994).
    const { mse, epistemic_variance: spread } = final?.ensemble ?? {};
    const [first, second] = final?.members.mse ?? [];
    expect(spread).toBeGreaterThan(0);
    expect((first + second) / 2 - mse).toBeCloseTo(spread, 6);
    expectFigure(join(folder, 'plots'), 'ensemble-predictions', 2);
  });

  it('01: stops jointly, compares both sets, and draws six panels', async () => {
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
    const nll = metricValues(folder, 'val/ens_nll').map(Number);
    const best = nll.indexOf(Math.min(...nll));
    expect(nll).toHaveLength(best + 1 + 2);
    expect(record.summary?.best).toMatchObject({ epoch: best, value: nll[best] });
    expectFigure(join(folder, 'plots'), 'joint-early-stopping', 6);
  });
});
