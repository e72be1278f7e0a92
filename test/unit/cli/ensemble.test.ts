import { describe, expect, it } from 'vitest';
import { ensembleOutputSchema } from '../../../core/protocol/pages/json-outputs.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { describeCombined, outputOf, requestOf } from '../../../src-main/cli/commands/ensemble.ts';
import { runRecord } from '../store/records.ts';

const usual = {
  method: 'greedy',
  name: 'chosen',
  rounds: '25',
  tolerance: '0.001',
  samples: '10',
  deviations: '20',
} as const;

const source = { run: 'run-1', name: 'first', folder: '/runs/1', rank: 0, checkpoint: 'final', epoch: 4, step: 40 };
const candidates = [source, { ...source, rank: 1, checkpoint: 'ensemble-best', epoch: 2, step: 24 }];
const made = {
  record: runRecord({ id: 'new', parts: { method: 'greedy', sources: candidates, members: [[1], [0]] } }),
  folder: '/runs/new',
  candidates,
  combined: {
    members: [[1], [0]],
    positions: candidates.map(({ epoch, step }) => ({ epoch, step })),
    path: [
      { candidate: 1, loss: 0.5 },
      { candidate: 0, loss: 0.25 },
    ],
    criterion: 'nll' as const,
    losses: { candidates: [0.75, 0.5], all: 0.25, chosen: 0.25 },
    validation: { 'val/ens_nll': 0.25 },
    monitor: 'val/ens_nll',
    evaluated: {
      set: 'ensemble-best' as const,
      split: 'test' as const,
      ranks: [0, 1],
      epochs: [2, 4],
      ensemble: { nll: 0.3125 },
      members: { nll: [0.5, 0.75] },
    },
    warnings: [],
  },
};

describe('tutti ensemble', () => {
  it('asks with numbers', () => {
    expect(requestOf(['a', 'b'], { ...usual, rank: '1', fromEpoch: '3' })).toEqual({
      ...usual,
      set: undefined,
      rank: 1,
      fromEpoch: 2,
      rounds: 25,
      tolerance: 0.001,
      samples: 10,
      deviations: 20,
    });
  });

  it.each([
    [{ rounds: '0' }, '--rounds "0": it must be a whole number of at least 1.'],
    [{ tolerance: '-1' }, '--tolerance "-1": it must be a number of at least 0.'],
    [{ samples: '0' }, '--samples "0": it must be a whole number of at least 1.'],
    [{ deviations: '1' }, '--deviations "1": it must be a whole number of at least 2.'],
    [{ fromEpoch: '0' }, '--from-epoch "0"'],
    [{ rank: '' }, '--rank "": it must be a whole number'],
    [{ method: 'snapshots' as const }, 'needs one run, not 2'],
  ])('refuses %j', (change, message) => {
    expect(() => requestOf(['a', 'b'], { ...usual, ...change })).toThrow(message);
  });

  it('prints the path of the selection', () => {
    expect(describeCombined(made).map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      'Chose 2 members from 2 checkpoints.',
      '',
      'run rank checkpoint epoch NLL alone NLL with it',
      'run-1 1 ensemble-best 3 0.5000 0.5000',
      'run-1 0 final 5 0.7500 0.2500',
      '',
      'validation NLL 0.2500; before: 0.5000 of the best checkpoint alone, 0.2500 of all together.',
      'test NLL 0.3125.',
      '',
      'Wrote the run new: /runs/new',
    ]);
    const drawn = {
      ...made.combined,
      members: [
        [0, 1],
        [0, 1],
      ],
      path: [],
    };
    const parts = { method: 'swag' as const, sources: candidates, members: drawn.members };
    const lines = describeCombined({ ...made, record: runRecord({ parts }), combined: drawn });
    expect(lines[0]).toBe('Drew 2 members from 2 checkpoints.');
    const inner = runRecord({ parts: { ...parts, method: 'unroll' } });
    expect(describeCombined({ ...made, record: inner, combined: drawn })[0]).toBe(
      'Unrolled 2 members from 2 checkpoints.',
    );
    const printed: unknown = JSON.parse(toJson(outputOf(made)));
    expect(ensembleOutputSchema.parse(printed)).toEqual(outputOf(made));
  });
});
