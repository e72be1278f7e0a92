import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../core/protocol/run/record.ts';
import { compareRuns, describeComparison } from '../../../src-main/cli/commands/history/compare.ts';
import { changeTags } from '../../../src-main/cli/commands/notes/notes.ts';
import { recordOf } from './records.ts';

function summaryOf(nll: number): RunSummary {
  return {
    attempt: 1,
    epochs: 2,
    steps: 6,
    stopReason: 'completed',
    metrics: {},
    best: { metric: 'val/ens_nll', value: nll, epoch: 1, step: 6 },
    evaluatedSets: [{ set: 'final', split: 'test', epochs: [1, 1], ensemble: { nll }, members: { nll: [nll, nll] } }],
  };
}

const first = recordOf({ seed: 3 }, { id: 'a', status: 'finished', summary: summaryOf(0.25) });
const second = recordOf({ seed: 4, optimizer: { kind: 'sgd' } }, { id: 'b', name: 'other', status: 'failed' });

describe('a comparison of runs', () => {
  it('has the options that differ, and the metrics of each set, null where a run has none', () => {
    const { runs, options, metrics, best } = compareRuns([first, second]);
    expect(runs).toEqual([
      { id: 'a', name: 'Blobs', status: 'finished' },
      { id: 'b', name: 'other', status: 'failed' },
    ]);
    expect(options).toContainEqual({ path: 'seed', values: [3, 4] });
    expect(options).toContainEqual({ path: 'optimizer.kind', values: ['adam', 'sgd'] });
    expect(options.map(({ path }) => path)).not.toContain('members');
    expect(metrics).toEqual([{ set: 'final', split: 'test', metric: 'nll', values: [0.25, null] }]);
    expect(best).toEqual([{ metric: 'val/ens_nll', value: 0.25, epoch: 1 }, null]);
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

describe('changeTags', () => {
  it('adds each tag once, and removes tags', () => {
    expect(changeTags(['a'], ['b', 'a', 'b'], false)).toEqual(['a', 'b']);
    expect(changeTags(['a', 'b'], ['a', 'c'], true)).toEqual(['b']);
  });
});
