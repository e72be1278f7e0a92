import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { readEvents } from '../../../src-main/store/runs/run-folder.ts';
import { metricColumns, metricValues, readCheckpointRecord, train, useHub } from '../harness.ts';

const { hub } = useHub();

/** Few samples, far too many units and a high rate, so the validation NLL has its optimum early. */
const overfitting: RunConfigInput = {
  members: 2,
  devices: 2,
  maxEpochs: 60,
  optimizer: { kind: 'adam', learningRate: 0.05 },
  hyperparameters: { samples: 60, hiddenUnits: 64, spread: 4, dropout: 0 },
};

/** Index of the smallest value. */
const optimum = (values: readonly number[]): number => values.indexOf(Math.min(...values));

describe('joint early stopping', () => {
  it('ends all ranks at the same epoch and compares the saved sets on the test split', async () => {
    const patience = 4;
    const { folder, record } = await train(hub(), 'blobs', {
      ...overfitting,
      earlyStopping: { enabled: true, patience },
    });
    const nll = metricValues(folder, 'val/ens_nll').map(Number);
    const best = optimum(nll);
    expect(record.status).toBe('finished');
    expect(record.summary).toMatchObject({
      stopReason: 'early-stopping',
      epochs: best + patience + 1,
      best: { metric: 'val/ens_nll', value: nll[best], epoch: best },
    });
    for (const rank of [0, 1]) {
      const own = metricValues(folder, `val/member_${rank}_nll`).map(Number);
      expect(readCheckpointRecord(folder, rank, 'final').epoch).toBe(best + patience);
      expect(readCheckpointRecord(folder, rank, 'ensemble-best')).toMatchObject({ epoch: best, score: nll[best] });
      const ownBest = { epoch: optimum(own), score: Math.min(...own) };
      expect(readCheckpointRecord(folder, rank, 'member-best')).toMatchObject(ownBest);
    }
    const sets = record.summary?.evaluatedSets ?? [];
    expect(sets.map(({ set, split }) => `${set} on ${split}`)).toEqual([
      'final on test',
      'ensemble-best on test',
      'member-best on test',
    ]);
    expect(sets[1].epochs).toEqual([best, best]);
    expect(Object.keys(sets[1].ensemble)).toEqual(expect.arrayContaining(['nll', 'acc', 'ece']));
    expect(sets[1].members.nll).toHaveLength(2);
  });
});

describe('local early stopping', () => {
  it('ends ranks independently; a stopped rank stands by while evaluations continue with the others', async () => {
    const patience = 4;
    const run = await train(hub(), 'blobs', {
      ...overfitting,
      seed: 3,
      earlyStopping: { enabled: true, joint: false, patience },
    });
    const { folder, record } = run;
    expect(record.summary?.stopReason).toBe('early-stopping');
    const stops = (await readEvents(folder)).filter(({ kind }) => kind === 'early-stopping');
    expect(stops.map(({ rank }) => rank).toSorted((a, b) => Number(a) - Number(b))).toEqual([0, 1]);
    const epochs = [0, 1].map((rank) => readCheckpointRecord(folder, rank, 'final').epoch);
    expect(epochs[0]).not.toBe(epochs[1]);
    for (const rank of [0, 1]) {
      const own = metricValues(folder, `val/member_${rank}_nll`).map(Number);
      const ownBest = readCheckpointRecord(folder, rank, 'member-best').epoch;
      expect(ownBest).toBe(optimum(own));
      expect(epochs[rank]).toBe(ownBest + patience);
      expect(own[epochs[rank]]).toBe(own.at(-1));
    }
    const standingBy = run.updates.filter((update) => update.type === 'worker' && update.state === 'standing-by');
    expect(standingBy.length).toBe(Math.abs(epochs[0] - epochs[1]));
    // One evaluation per epoch, at the epoch of the ranks still training.
    const columns = metricColumns(folder);
    const rows = (columns.get('val/ens_nll') ?? []).flatMap((cell, row) => (cell === '' ? [] : [row]));
    const evaluated = rows.map((row) => Number(columns.get('epoch')?.[row]));
    expect(evaluated).toEqual(Array.from({ length: Math.max(...epochs) + 1 }, (_, epoch) => epoch));
  });
});
