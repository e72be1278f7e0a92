import { describe, expect, it } from 'vitest';
import type { MetricPoints } from '../../../core/protocol/wire/points.ts';
import { configDifferences, spellHistory } from '../../../src-renderer/views/run/configuration/config-history.ts';
import { memberBand, memberNamesOf } from '../../../src-renderer/views/compare/compared-line.ts';

describe('differences of configurations', () => {
  it('are the leaves that differ between runs', () => {
    const differences = configDifferences([
      [{ members: 2, devices: [0, 1], optimizer: { kind: 'sgd', momentum: 0.9 } }],
      [{ members: 2, devices: [0, 2], optimizer: { kind: 'adam' } }],
    ]);
    expect(differences).toEqual([
      {
        path: 'devices',
        values: [[[0, 1]], [[0, 2]]],
      },
      { path: 'optimizer.kind', values: [['sgd'], ['adam']] },
      { path: 'optimizer.momentum', values: [[0.9], [undefined]] },
    ]);
  });

  it('include values changed during training, even if all runs share them', () => {
    const resumed = [{ rate: 0.5 }, { rate: 0.5 }, { rate: 0.25 }];
    expect(configDifferences([resumed, [{ rate: 0.25 }]])).toEqual([{ path: 'rate', values: [[0.5, 0.25], [0.25]] }]);
    expect(configDifferences([resumed, resumed])).toHaveLength(1);
    expect(spellHistory([0.5, 0.25])).toBe('0.5 → 0.25');
    expect(spellHistory([undefined, 'adam', [0, 2]])).toBe('– → adam → [0,2]');
  });
});

describe('the band of the members', () => {
  const columns = (name: string, step: number[], value: number[]): MetricPoints => ({
    name,
    step: Int32Array.from(step),
    epoch: Int32Array.from(step),
    value: Float64Array.from(value),
    total: step.length,
  });

  it('spans the smallest to the largest member at each step of the ensemble', () => {
    const { lower, upper } = memberBand(columns('val/ens_nll', [10, 20, 30], [1, 1, 1]), [
      columns('val/member_0_nll', [10, 20, 25], [2, NaN, 9]),
      columns('val/member_1_nll', [10, 20], [3, 4]),
    ]);
    expect([...lower]).toEqual([2, 4, NaN]);
    expect([...upper]).toEqual([3, 4, NaN]);
  });

  it('uses the same metric as the ensemble', () => {
    const names = ['val/ens_nll', 'val/member_0_nll', 'val/member_10_nll', 'val/member_0_acc', 'test/member_0_nll'];
    expect(memberNamesOf('val/ens_nll', names)).toEqual(['val/member_0_nll', 'val/member_10_nll']);
    expect(memberNamesOf('val/disagreement', names)).toEqual([]);
  });
});
