import { describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import { type ComparedSubject, runSubject } from '../../../../src-renderer/views/compare/compared-subject.ts';
import {
  allResults,
  evaluatedPlaces,
  modeIn,
  pairedReference,
  pairedSweeps,
  setMetrics,
} from '../../../../src-renderer/views/compare/results/results.ts';
import {
  deltaFrom,
  formatDelta,
  placeOfBest,
  readOrder,
  sortPlaces,
  turned,
  verdictOf,
  writeOrder,
} from '../../../../src-renderer/views/compare/results/results-order.ts';
import { runRecord, runRow, runView } from '../run-fixtures.ts';

const single = (mean: number) => ({ mean, standardError: NaN, count: 1 });

describe('a difference from the baseline', () => {
  it('is better in the direction of the metric', () => {
    expect(deltaFrom(single(0.5), single(0.25), 'min')).toEqual({ difference: -0.25, verdict: 'better' });
    expect(deltaFrom(single(0.5), single(0.25), 'max')).toEqual({ difference: -0.25, verdict: 'worse' });
    expect(deltaFrom(single(0.5), single(0.5), 'max')).toEqual({ difference: 0, verdict: 'equal' });
    expect(deltaFrom(single(0.5), single(0.25), null)).toEqual({ difference: -0.25, verdict: null });
  });

  it('is none where a value is missing, NaN or infinite', () => {
    expect(deltaFrom(single(NaN), single(1), 'min')).toBeNull();
    expect(deltaFrom(single(1), single(Infinity), 'min')).toBeNull();
    expect(deltaFrom({ mean: NaN, standardError: NaN, count: 0 }, single(1), 'min')).toBeNull();
  });

  it('is unclear below two standard errors of the difference: √(0.3² + 0.4²) = 0.5', () => {
    const baseline = { mean: 1, standardError: 0.3, count: 3 };
    expect(deltaFrom(baseline, { mean: 1.9, standardError: 0.4, count: 3 }, 'max')?.verdict).toBe('unclear');
    expect(deltaFrom(baseline, { mean: 2.1, standardError: 0.4, count: 3 }, 'max')?.verdict).toBe('better');
    // That of a single run is unknown: the other one's alone counts.
    expect(deltaFrom(single(1), { mean: 1.7, standardError: 0.4, count: 3 }, 'max')?.verdict).toBe('unclear');
    expect(verdictOf(-1, 0.5, 'min')).toBe('better');
  });

  it('is spelled with its sign and three digits', () => {
    expect([0.01234, -1.5, 0, -0.0000123, 2e7].map(formatDelta)).toEqual([
      '+0.0123',
      '−1.50',
      '0',
      '−1.23e-5',
      '+2.00e7',
    ]);
  });
});

it('the best of a column is the smallest or the largest finite value, if values differ', () => {
  const values = [3, NaN, 1, 2].map(single);
  expect(placeOfBest(values, 'min')).toBe(2);
  expect(placeOfBest(values, 'max')).toBe(0);
  expect(placeOfBest(values, null)).toBeNull();
  expect(placeOfBest([single(1), single(1)], 'min')).toBeNull();
});

describe('the order of results', () => {
  it('is in the address, and turns from the better values first to unsorted', () => {
    expect(writeOrder(readOrder('-best val/ens_acc'))).toBe('-best val/ens_acc');
    const better = turned(null, 'a', true);
    expect(writeOrder(better)).toBe('-a');
    const worse = turned(better, 'a', true);
    expect(writeOrder(worse)).toBe('a');
    expect(turned(worse, 'a', true)).toBeNull();
  });

  it('has values that are not finite last, in both directions', () => {
    const values = [2, NaN, 3, 1].map(single);
    expect(sortPlaces(4, values, readOrder('x'))).toEqual([3, 0, 2, 1]);
    expect(sortPlaces(4, values, readOrder('-x'))).toEqual([2, 0, 3, 1]);
    expect(sortPlaces(4, undefined, readOrder('x'))).toEqual([0, 1, 2, 3]);
  });
});

function recordOf(id: string, seed: number, nll: number, changes: Partial<RunRecord> = {}): RunRecord {
  const set = { set: 'final', split: 'test', epochs: [1], ensemble: { nll, entropy: 1 }, members: {} } as const;
  const best = { metric: 'val/ens_nll', value: nll, epoch: 0, step: 1 };
  return runRecord({
    id,
    status: 'finished',
    config: runConfigSchema.parse({ seed }),
    summary: {
      attempt: 1,
      epochs: 1,
      steps: 1,
      stopReason: 'completed',
      metrics: { 'val/ens_nll': nll },
      best,
      evaluatedSets: [{ ...set, ranks: [0], epochs: [1] }],
    },
    ...changes,
  });
}

const viewOf = (record: RunRecord) => {
  const best = record.summary?.best;
  return runView({
    record,
    row: runRow({
      id: record.id,
      name: record.id,
      status: record.status,
      best: best ? { metric: best.metric, value: best.value, epoch: best.epoch } : null,
    }),
  });
};

function sweepOf(
  id: string,
  values: readonly number[],
  seeds = values.map((_, index) => 42 + 256 * index),
): ComparedSubject {
  const [first, ...others] = values.map((value, index) =>
    viewOf(recordOf(`${id}-${index}`, seeds[index], value, { status: value === Infinity ? 'failed' : 'finished' })),
  );
  return { id, name: id, sweep: { id, name: id, of: values.length, seed: 42 }, runs: [first, ...others] };
}

describe('the results of a run', () => {
  it('are its best and last values and those of its sets', () => {
    const subjects = [runSubject(viewOf(recordOf('a', 1, 0.5))), runSubject(viewOf(recordOf('b', 1, 0.25)))];
    const results = allResults(subjects, ['val/ens_nll', 'val/ens_acc']);
    expect(results.map(({ id, label, mode }) => [id, label, mode])).toEqual([
      ['best val/ens_nll', 'best ens NLL', 'min'],
      ['last val/ens_nll', 'last ens NLL', 'min'],
      ['final test nll', 'NLL, final on test', 'min'],
    ]);
    expect(results.map(({ of }) => of(subjects[1]).mean)).toEqual([0.25, 0.25, 0.25]);
    expect(evaluatedPlaces(subjects)).toEqual([{ set: 'final', split: 'test' }]);
    expect(setMetrics(subjects)).toEqual(['nll']);
  });

  it('are those of finished runs only, in a sweep: the mean of 1 and 3 with s / √2 = 1', () => {
    const sweep = sweepOf('s', [1, 3, Infinity]);
    for (const { of } of allResults([sweep], ['val/ens_nll'])) {
      expect(of(sweep)).toEqual({ mean: 2, standardError: 1, count: 2 });
    }
  });

  it('improve in the direction that a project gives its own metric', () => {
    const hits = { name: 'hits', direction: 'max', of: 'ensemble', help: '' } as const;
    const subjects = [runSubject(viewOf(recordOf('a', 1, 0.5, { metrics: [hits] })))];
    expect(modeIn(subjects, 'val/hits')).toBe('max');
    expect(modeIn(subjects, 'val/ens_acc')).toBe('max');
    expect(modeIn(subjects, 'val/unknown')).toBeNull();
  });
});

describe('paired differences of sweeps', () => {
  it('are taken seed by seed from the baseline, or from the first sweep', () => {
    const [first, second] = [sweepOf('first', [1, 2, 6]), sweepOf('second', [2, 3, 8])];
    expect(pairedReference([first], null)).toBeNull();
    expect(pairedReference([first, second], null)?.id).toBe('first');
    expect(pairedReference([first, second], second)?.id).toBe('second');
    const [{ subject, rows }] = pairedSweeps([first, second], first);
    expect(subject.id).toBe('second');
    // Differences 1, 1, 2: mean 4/3, s² = 1/3, s / √3 = 1/3.
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ set: 'final', split: 'test', metric: 'nll', verdict: 'worse' });
    expect(rows[0].difference.mean).toBeCloseTo(4 / 3, 12);
    expect(rows[0].difference.standardError).toBeCloseTo(1 / 3, 12);
    expect(rows[0].errors).toBeCloseTo(4, 12);
  });

  it('are none without a seed in common', () => {
    const [first, second] = [sweepOf('first', [1, 2]), sweepOf('second', [2, 3], [7, 8])];
    expect(pairedSweeps([first, second], first).map(({ rows }) => rows)).toEqual([[]]);
  });
});
