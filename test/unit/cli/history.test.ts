import { describe, expect, it } from 'vitest';
import { attemptHistory } from '../../../core/protocol/history/history.ts';
import type { Attempt } from '../../../core/protocol/run/record.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { parseChoice } from '../../../src-main/cli/commands/history/fork.ts';
import { describeRun } from '../../../src-main/cli/commands/history/show.ts';
import { runEvent, runRecord } from '../store/records.ts';

describe('the point of tutti fork', () => {
  it('is an epoch counted from 1, a name, the best or the last', () => {
    expect(parseChoice({ at: '12' })).toEqual({ by: 'epoch', epoch: 11 });
    expect(parseChoice({ at: 'round-3' })).toEqual({ by: 'name', name: 'round-3' });
    expect(parseChoice({ best: true })).toEqual({ by: 'best' });
    expect(parseChoice({})).toEqual({ by: 'last' });
  });

  it('is one, and not before the first epoch', () => {
    expect(() => parseChoice({ at: '2', best: true })).toThrow('exclude each other');
    expect(() => parseChoice({ at: '0' })).toThrow('epochs count from 1');
  });
});

const time = '2026-01-02T03:04:05.000Z';
const attempt = (number: number, maxEpochs: number, changes: Partial<Attempt> = {}): Attempt => ({
  attempt: number,
  startedAt: time,
  endedAt: time,
  status: 'finished',
  config: runConfigSchema.parse({ maxEpochs }),
  sourceHash: 'a'.repeat(64),
  gitCommit: null,
  ...changes,
});

const part = { run: 'run-0', name: 'earlier', folder: '/runs/0', rank: 2, epoch: 4, step: 50 };

describe('the history of a run', () => {
  const record = runRecord({
    status: 'finished',
    origin: {
      run: 'run-0',
      name: 'earlier\u001b[2J',
      folder: '/runs/0',
      attempt: 1,
      kind: 'checkpoint',
      point: 'ensemble-best',
      epoch: 4,
      step: 50,
    },
    parts: {
      method: 'greedy-soup',
      sources: ['final', 'top-1\u001b[2J'].map((checkpoint) => ({ ...part, checkpoint })),
      members: [[0, 1]],
    },
    attempts: [
      attempt(1, 3, { kind: 'fork' }),
      attempt(2, 9, { kind: 'resume', from: { epoch: 3, step: 90 }, sourceHash: 'b'.repeat(64) }),
    ],
  });
  const drawn = [part, { ...part, epoch: 5 }].map((own) => ({ ...own, checkpoint: `epoch-${own.epoch}` }));
  it.each([
    ['swag' as const, '  rank 0: drawn around the mean of epoch-4 of rank 2 of run-0, epoch-5 of rank 2 of run-0'],
    ['mc-dropout' as const, '  rank 0: dropout masks drawn for epoch-4 of rank 2 of run-0, epoch-5 of rank 2 of run-0'],
  ])('says how members were drawn with %s', (method, line) => {
    const made = runRecord({ parts: { method, sources: drawn, members: [[0, 1]] } });
    const nothing = { history: [], forks: [], forkPoints: [] };
    expect(describeRun({ folder: '/runs/1', name: 'made', record: made, ...nothing })).toContain(line);
  });

  it('numbers the inner members of a checkpoint', () => {
    const made = runRecord({ parts: { method: 'unroll', sources: drawn, members: [[0], [0], [1]] } });
    const nothing = { history: [], forks: [], forkPoints: [] };
    const lines = describeRun({ folder: '/runs/1', name: 'made', record: made, ...nothing });
    expect(lines).toContain('  rank 1: inner member 1 of epoch-4 of rank 2 of run-0');
    expect(lines).toContain('  rank 2: inner member 0 of epoch-5 of rank 2 of run-0');
  });

  const events = [
    runEvent({ kind: 'finished', message: 'The run ended: finished.' }),
    runEvent({ kind: 'lost', attempt: 2, message: 'Rank 1 was killed.' }),
  ];
  const history = attemptHistory(record, events);

  it('says what each attempt changed and how it ended', () => {
    expect(history).toMatchObject([
      { changes: [], hasNewSource: false, ending: 'The run ended: finished.' },
      { changes: [{ path: 'maxEpochs', from: 3, to: 9 }], hasNewSource: true, ending: 'Rank 1 was killed.' },
    ]);
  });

  it('is shown with origin, forks and points, without commands to the terminal', () => {
    const forks = [{ id: 'run-2', name: 'later', status: 'running', folder: '/runs/2' }];
    const point = { name: 'round-8', kind: 'state' as const, attempt: 2, epoch: 8, step: 90, savedAt: time };
    const text = describeRun({ folder: '/runs/1', name: 'first', record, history, forks, forkPoints: [point] }).join(
      '\n',
    );
    expect(text).toContain('fork of run-0 ("earlier\\u001b[2J"), attempt 1: ensemble-best after epoch 5, step 50');
    expect(text).toContain(
      'made from checkpoints (greedy-soup):\n  rank 0: the mean of final of rank 2 of run-0, ' +
        'top-1\\u001b[2J of rank 2 of run-0\n',
    );
    expect(text).toContain(`  2  resume at step 90, ${time}: finished. Rank 1 was killed.\n     maxEpochs: 3 → 9`);
    expect(text).toContain('  run-2  later  running');
    expect(text).toMatch(/ {2}round-8 +state, continues exactly +2 +9 +90/);
  });
});
