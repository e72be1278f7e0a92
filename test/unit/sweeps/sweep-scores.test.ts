import { describe, expect, it } from 'vitest';
import { estimate, formatEstimate } from '../../../core/numeric/estimate.ts';
import { summarizeSweep } from '../../../core/protocol/pages/sweep-summary.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { repeatedSeed } from '../../../core/protocol/run/sweep/sweep.ts';
import { describeSweep } from '../../../src-main/cli/commands/sweeps/describe-sweep.ts';
import { recordOf } from '../cli/records.ts';

describe('estimate', () => {
  it('has the mean and the standard error of SciPy', () => {
    // scipy.stats.sem([0.41, 0.44, 0.39, 0.47, 0.405]) with its default ddof=1
    const { mean, standardError, count } = estimate([0.41, 0.44, 0.39, 0.47, 0.405]);
    expect(mean).toBeCloseTo(0.423, 12);
    expect(standardError).toBeCloseTo(0.014_282_856_857_085_694, 12);
    expect(count).toBe(5);
  });

  it('has no error for one value, and no mean for none', () => {
    expect(estimate([2])).toEqual({ mean: 2, standardError: NaN, count: 1 });
    expect(estimate([])).toEqual({ mean: NaN, standardError: NaN, count: 0 });
  });
});

describe('formatEstimate', () => {
  it.each([
    [{ mean: 0.515_04, standardError: 0.006_636, count: 3 }, '0.5150 ± 0.0066'],
    [{ mean: 0.515_04, standardError: 0.0998, count: 3 }, '0.52 ± 0.10'],
    [{ mean: 123.4, standardError: 12.34, count: 3 }, '123 ± 12'],
    // Equal values, whose sum was rounded.
    [{ mean: 0.7321, standardError: 4.5e-17, count: 3 }, '0.7321 ± 0'],
    [{ mean: 0.25, standardError: NaN, count: 1 }, '0.2500'],
    [{ mean: NaN, standardError: NaN, count: 0 }, '–'],
  ])('%j is %s', (found, text) => {
    expect(formatEstimate(found)).toBe(text);
  });
});

describe('repeatedSeed', () => {
  it('leaves room for the members of a run, and stays below 2³²', () => {
    expect([0, 1, 2].map((index) => repeatedSeed(42, index))).toEqual([42, 298, 554]);
    expect(repeatedSeed(2 ** 32 - 1, 1)).toBe(255);
  });
});

const sweep = { id: 'blobs-1', name: 'Blobs', of: 5, seed: 42 };

function runOf(index: number, changes: Partial<RunRecord>, nll?: number, members: number[] = [1, 3]): RunRecord {
  const set = { set: 'final' as const, split: 'test' as const, ranks: [0, 1], epochs: [1, 1] };
  const summary = {
    attempt: 1,
    epochs: 2,
    steps: 6,
    stopReason: 'completed' as const,
    metrics: {},
    best: { metric: 'val/ens_nll', value: nll ?? 0, epoch: 1, step: 6 },
    evaluatedSets: [{ ...set, ensemble: { nll: nll ?? 0 }, members: { nll: members } }],
  };
  const seed = repeatedSeed(42, index);
  return recordOf({ seed }, { status: 'finished', summary, sweep: { ...sweep, index }, ...changes });
}

describe('the summary of a sweep', () => {
  const runs = [
    runOf(3, {}, NaN),
    runOf(0, {}, 1),
    runOf(1, {}, 2, [2, 4]),
    runOf(
      2,
      {
        status: 'failed',
        error: { message: 'Rank 1 died.\nIt was killed.', rank: 1, device: null, epoch: null, step: null },
      },
      100,
    ),
  ].map((record) => ({ record, folder: `/runs/${record.sweep?.index}` }));
  const summary = summarizeSweep(sweep, runs);

  it('averages finished runs, and leaves out values that are not finite', () => {
    // Mean of 1 and 2; s = √0.5, so s / √2 = 0.5.
    const [score] = summary.scores;
    expect(score.ensemble).toEqual({ mean: 1.5, standardError: expect.closeTo(0.5, 12) as number, count: 2 });
    // Means of the members: 2 and 3.
    expect(score.meanMember).toEqual({ mean: 2.5, standardError: expect.closeTo(0.5, 12) as number, count: 2 });
    expect(score.leftOut).toEqual([810]);
    expect(summary.best).toMatchObject({ metric: 'val/ens_nll', mean: 1.5, count: 2, leftOut: [810] });
  });

  it('names every run in the order of the seeds, and those that are missing', () => {
    expect(summary.runs.map(({ index, seed, status }) => [index, seed, status])).toEqual([
      [0, 42, 'finished'],
      [1, 298, 'finished'],
      [2, 554, 'failed'],
      [3, 810, 'finished'],
    ]);
    expect(summary.missing).toEqual([1066]);
  });

  it('is a table with a warning for everything that does not count', () => {
    const lines = describeSweep(summary).map((line) => line.replaceAll(/ +/g, ' ').trim());
    expect(lines[0]).toBe('Blobs: 3 of 5 seeds finished (sweep blobs-1)');
    expect(lines).toContain('final average member 2.50 ± 0.50 2');
    expect(lines).toContain('ensemble 1.50 ± 0.50 2');
    expect(lines).toContain('warning: seed 554 failed: Rank 1 died. It is not in the means.');
    expect(lines).toContain('warning: not trained yet: seed 1066.');
    expect(lines).toContain(
      'warning: seed 810 has no finite nll (final, test), val/ens_nll (best, validation): left out of these means.',
    );
    expect(lines.at(-1)).toBe('To train the others: npx tutti resume blobs-1');
  });
});
