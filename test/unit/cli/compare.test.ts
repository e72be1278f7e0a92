import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../core/protocol/run/record.ts';
import { describeComparison } from '../../../src-main/cli/commands/history/compare.ts';
import { compareRuns } from '../../../src-main/cli/commands/history/comparison.ts';
import { changeTags } from '../../../src-main/cli/commands/notes.ts';
import { recordOf } from './records.ts';

function summaryOf(nll: number): RunSummary {
  return {
    attempt: 1,
    epochs: 2,
    steps: 6,
    stopReason: 'completed',
    metrics: {},
    best: { metric: 'val/ens_nll', value: nll, epoch: 1, step: 6 },
    evaluatedSets: [
      { set: 'final', split: 'test', ranks: [0, 1], epochs: [1, 1], ensemble: { nll }, members: { nll: [nll, nll] } },
    ],
  };
}

const first = recordOf({ seed: 3 }, { id: 'a', status: 'finished', summary: summaryOf(0.25) });
const second = recordOf({ seed: 4, optimizer: { kind: 'sgd' } }, { id: 'b', name: 'other', status: 'failed' });

describe('a comparison of runs', () => {
  it('has the options that differ, and the metrics of each set, null where a run has none', () => {
    const { runs, options, metrics, best } = compareRuns([first, second]);
    expect(runs).toEqual([
      { id: 'a', name: 'Blobs', status: 'finished', seeds: null },
      { id: 'b', name: 'other', status: 'failed', seeds: null },
    ]);
    expect(options).toContainEqual({ path: 'seed', values: [3, 4] });
    expect(options).toContainEqual({ path: 'optimizer.kind', values: ['adam', 'sgd'] });
    expect(options.map(({ path }) => path)).not.toContain('members');
    expect(metrics).toEqual([
      { set: 'final', split: 'test', metric: 'nll', values: [0.25, null], standardErrors: [null, null] },
    ]);
    expect(best).toEqual([{ metric: 'val/ens_nll', value: 0.25, epoch: 1, standardError: null }, null]);
  });

  it('is a table with a column for each run', () => {
    const lines = describeComparison(compareRuns([first, second])).map((line) => line.replaceAll(/ +/g, ' ').trim());
    expect(lines.slice(0, 4)).toEqual([
      'a b',
      'name Blobs other',
      'status finished failed',
      'best ens NLL 0.2500 @ 2 -',
    ]);
    expect(lines).toContain('final on test: nll 0.2500 -');
    expect(lines).toContain('seed 3 4');
  });

  it('says so where all options are the same', () => {
    expect(describeComparison(compareRuns([first, first])).at(-1)).toBe('All options are the same.');
  });
});

describe('a comparison of sweeps', () => {
  const sweepOf = (id: string, nlls: number[]) => {
    const sweep = { id, name: id, of: nlls.length, seed: 42 };
    const runs = nlls.map((nll, index) =>
      recordOf({ seed: 42 + 256 * index }, { status: 'finished', summary: summaryOf(nll), sweep: { ...sweep, index } }),
    );
    return { sweep, runs: [runs[0], ...runs.slice(1)] as const };
  };
  const comparison = compareRuns([sweepOf('a', [1, 2, 3]), sweepOf('b', [0.5, 1.5, 2.5]), first]);

  it('has means with standard errors, and differences paired by seed', () => {
    const [{ values, standardErrors }] = comparison.metrics;
    expect(values).toEqual([2, 1.5, 0.25]);
    // s = 1 for both, so s / √3.
    expect(standardErrors).toEqual([expect.closeTo(0.577_35, 5), expect.closeTo(0.577_35, 5), null]);
    // The seeds differ by 1, but the sweeps by 0.5 with every seed.
    expect(comparison.differences).toEqual([
      { of: 'b', from: 'a', set: 'final', split: 'test', metric: 'nll', mean: -0.5, standardError: 0, count: 3 },
    ]);
    expect(comparison.runs.map(({ status, seeds }) => [status, seeds])).toEqual([
      ['finished', { finished: 3, of: 3 }],
      ['finished', { finished: 3, of: 3 }],
      ['finished', null],
    ]);
  });

  it('is a table that says what the errors are', () => {
    const lines = describeComparison(comparison).map((line) => line.replaceAll(/ +/g, ' ').trim());
    expect(lines).toContain('seeds 3 of 3 3 of 3 1');
    expect(lines).toContain('final on test: nll 2.00 ± 0.58 1.50 ± 0.58 0.2500 *');
    expect(lines.slice(-3)).toEqual([
      'b − a, paired by seed; beyond noise where the 95 % interval leaves out 0:',
      'difference mean ± error seeds',
      'final on test: nll -0.5000 ± 0 3 beyond noise: b is better',
    ]);
  });
});

describe('marks', () => {
  const linesOf = (...compared: Parameters<typeof compareRuns>[0]): string[] =>
    describeComparison(compareRuns(compared)).map((line) => line.replaceAll(/ +/g, ' ').trim());
  const withScores = (id: string, ensemble: Record<string, number>) => {
    const summary = summaryOf(0);
    return recordOf({}, { id, summary: { ...summary, evaluatedSets: [{ ...summary.evaluatedSets[0], ensemble }] } });
  };

  it('show the better value in the direction of its metric, and say that one run each proves nothing', () => {
    const lines = linesOf(
      withScores('a', { nll: 0.2, acc: 0.8, predictive_entropy: 1, ece: 0.1 }),
      withScores('b', { nll: 0.1, acc: 0.7, predictive_entropy: 2, ece: 0.1 }),
    );
    expect(lines).toContain('final on test: nll 0.2000 0.1000 *');
    expect(lines).toContain('final on test: acc 0.8000 * 0.7000');
    expect(lines).toContain('final on test: predictive_entropy 1.000 2.000');
    expect(lines).toContain('final on test: ece 0.1000 0.1000');
    expect(lines.at(-1)).toContain('* the best value. Whether a single run is better by more than noise is unknown');
  });

  it('are absent where nothing is compared, and never on NaN', () => {
    expect(linesOf(first, second).join('\n')).not.toContain('*');
    expect(linesOf(withScores('a', { nll: NaN }), withScores('b', { nll: 0.1 })).join('\n')).not.toContain('*');
  });

  it('call a difference of sweeps noise where its interval holds 0', () => {
    // Differences 0.1, -0.2, 0.3: their mean is 0.067, its error 0.145.
    const sweepOf = (id: string, nlls: number[]) => {
      const sweep = { id, name: id, of: nlls.length, seed: 42 };
      const runs = nlls.map((nll, index) =>
        recordOf({ seed: 42 + index }, { status: 'finished', summary: summaryOf(nll), sweep: { ...sweep, index } }),
      );
      return { sweep, runs: [runs[0], ...runs.slice(1)] as const };
    };
    const lines = linesOf(sweepOf('a', [1, 1, 1]), sweepOf('b', [1.1, 0.8, 1.3]));
    expect(lines.at(-1)).toMatch(/^final on test: nll 0\.07 ± 0\.15 3 within noise$/);
  });
});

describe('changeTags', () => {
  it('adds each tag once, and removes tags', () => {
    expect(changeTags(['a'], ['b', 'a', 'b'], false)).toEqual(['a', 'b']);
    expect(changeTags(['a', 'b'], ['a', 'c'], true)).toEqual(['b']);
  });
});
