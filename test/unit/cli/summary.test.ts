import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../data/temp-folder.ts';
import type { RunSummary } from '../../../core/protocol/run/record.ts';
import { plainLook } from '../../../src-main/cli/look.ts';
import { compareSets, summarize } from '../../../src-main/cli/commands/summary.ts';
import { recordOf } from './records.ts';

const summary: RunSummary = {
  attempt: 1,
  epochs: 12,
  steps: 480,
  stopReason: 'early-stopping',
  metrics: {},
  best: { metric: 'val/ens_nll', value: 0.41006, epoch: 9, step: 400 },
  evaluatedSets: [
    {
      set: 'ensemble-best',
      split: 'test',
      ranks: [0, 1],
      epochs: [9, 9],
      ensemble: { nll: 0.4, acc: 0.875, ece: 0.0123456, disagreement: 0.1 },
      members: { nll: [0.5, 0.6], acc: [0.75, 0.8], ece: [0.02, 0.04] },
    },
    {
      set: 'member-best',
      split: 'test',
      ranks: [0, 1],
      epochs: [7, 11],
      ensemble: { nll: Number.NaN, acc: 0.9, ece: 0.01 },
      members: { nll: [0.4, Number.NaN], acc: [0.8, 0.9], ece: [0.02, 0.02] },
    },
  ],
};

describe('compareSets', () => {
  it('leaves out the last metrics in a narrow terminal', () => {
    const [, titles, row] = compareSets(summary.evaluatedSets, { ...plainLook, width: 56 });
    expect(titles).toBe('on test        epochs                      NLL  accuracy');
    expect(row).toBe('ensemble-best  10      average member   0.5500    0.7750');
  });

  it('shows the average member beside the ensemble, for every set', () => {
    expect(compareSets(summary.evaluatedSets)).toEqual([
      '',
      'on test        epochs                      NLL  accuracy      ECE',
      'ensemble-best  10      average member   0.5500    0.7750  0.03000',
      '                       ensemble         0.4000    0.8750  0.01235',
      'member-best    8, 12   average member  – (NaN)    0.8500  0.02000',
      '                       ensemble        – (NaN)    0.9000  0.01000',
    ]);
  });

  it('names both ways in which jointly trained members predict together', () => {
    const ensemble = { nll: 0.4, acc: 0.875, product_nll: 0.375, product_acc: 0.9, product_ece: 0.5 };
    const set = {
      set: 'final' as const,
      split: 'test' as const,
      ranks: [0, 1],
      epochs: [9, 9],
      ensemble,
      members: { nll: [0.5, 0.6] },
    };
    expect(compareSets([set]).slice(2)).toEqual([
      'final    10      average member      0.5500         -',
      '                 product of experts  0.3750    0.9000',
      '                 mean of members     0.4000    0.8750',
    ]);
  });

  it('compares regressions by MSE and NLL', () => {
    const set = { set: 'final', split: 'validation', epochs: [0, 1, 2, 3, 4] } as const;
    const sets = [
      {
        ...set,
        ranks: [0, 1, 2, 3, 4],
        epochs: [...set.epochs],
        ensemble: { mse: 0.5, nll: -1 },
        members: { mse: [1, 2], nll: [0, 1] },
      },
    ];
    expect(compareSets(sets)).toEqual([
      '',
      'on validation  epochs                     MSE     NLL',
      'final          1 to 5  average member   1.500  0.5000',
      '                       ensemble        0.5000  -1.000',
    ]);
  });
});

describe('summarize', () => {
  it('warns of a non-finite member despite the status "finished"', () => {
    const metrics = { 'val/ens_nll': NaN, 'val/member_1_nll': NaN, 'val/member_0_nll': 0.5 };
    const record = recordOf({}, { status: 'finished', summary: { ...summary, metrics, evaluatedSets: [] } });
    expect(summarize(record, '/runs/blobs')[1]).toBe('warning: not finite: rank 1 (val/ens_nll, val/member_1_nll)');
  });

  it('ends its scores with what the ensemble that answers gains', () => {
    const evaluatedSets = [
      { ...summary.evaluatedSets[0], set: 'final' as const, ensemble: { nll: 0.9 } },
      { ...summary.evaluatedSets[0], ensemble: { nll: 0.4 }, members: { nll: [0.5, 0.51, 0.52] } },
    ];
    const said = summarize(recordOf({}, { status: 'finished', summary: { ...summary, evaluatedSets } }), '/runs/blobs');
    expect(said.filter((line) => line.startsWith('The ensemble'))).toEqual([
      'The ensemble (ensemble-best) predicts the test split better than each of its 3 members: its NLL is ' +
        '0.4000, theirs 0.5100 on average and 0.5000 at best.',
    ]);
  });

  it('says how the run ended, its best, and where it is', () => {
    const attempt = { attempt: 1, startedAt: '2026-11-21T08:15:02.000Z', endedAt: '2026-11-21T08:16:06.000Z' };
    const attempts = [{ ...attempt, status: 'finished' as const }];
    const record = recordOf({}, { status: 'finished', attempts, summary: { ...summary, evaluatedSets: [] } });
    expect(summarize(record, '/runs/blobs')).toEqual([
      'finished after 12 epochs, 480 steps, 1 m 04 s (early stopping)',
      'best ens NLL 0.4101 at epoch 10, step 400',
      '',
      'folder: /runs/blobs',
    ]);
  });
});

it('advises to resume a run only where it has saved a state', async () => {
  const folder = await temporaryFolder();
  const advice = (): string | undefined =>
    summarize(recordOf({}, { status: 'failed' }), folder).find((line) => line.startsWith('To resume it'));
  expect(advice()).toBeUndefined();
  mkdirSync(join(folder, 'state', 'rank-0'), { recursive: true });
  expect(advice()).toBeUndefined();
  writeFileSync(join(folder, 'state', 'rank-0', 'round-3.json'), '{}');
  expect(advice()).toBe('To resume it: tutti resume 20261121-081502-blobs-3fa9');
});
