import { describe, expect, it } from 'vitest';
import { describeNotFinite, notFiniteOf } from '../../../core/protocol/run/health.ts';
import type { RunSummary } from '../../../core/protocol/run/record.ts';

function summary(metrics: Record<string, number>, fields: Partial<RunSummary> = {}): RunSummary {
  return {
    attempt: 1,
    epochs: 1,
    steps: 1,
    stopReason: 'completed',
    metrics,
    best: null,
    evaluatedSets: [],
    ...fields,
  };
}

const testSet = {
  set: 'final' as const,
  split: 'test' as const,
  ranks: [0, 1],
  epochs: [0, 0],
  ensemble: { nll: Infinity },
  members: { nll: [1, NaN], acc: [1, 1] },
};

describe('notFiniteOf', () => {
  it('is null while a run has no summary, and if everything is finite', () => {
    expect(notFiniteOf({ summary: null })).toBeNull();
    expect(describeNotFinite({ summary: null })).toBeNull();
    expect(notFiniteOf({ summary: summary({ 'val/ens_nll': 0, 'train/member_0_loss': 3 }) })).toBeNull();
  });

  it('names metrics and ranks', () => {
    const record = { summary: summary({ 'val/ens_nll': NaN, 'val/member_10_nll': NaN, 'val/member_2_acc': NaN }) };
    expect(notFiniteOf(record)).toEqual({
      metrics: ['val/ens_nll', 'val/member_10_nll', 'val/member_2_acc'],
      ranks: [2, 10],
    });
    expect(describeNotFinite(record)).toBe('not finite: ranks 2, 10');
  });

  it('also checks evaluated sets', () => {
    const found = notFiniteOf({ summary: summary({}, { evaluatedSets: [testSet] }) });
    expect(found).toEqual({ metrics: ['final/test/nll', 'final/test/member_1_nll'], ranks: [1] });
  });

  it('names metrics if no single rank causes it', () => {
    const record = { summary: summary({ a: NaN, b: NaN, c: -Infinity, d: NaN }) };
    expect(describeNotFinite(record)).toBe('not finite: a, b, c and 1 more');
  });
});
