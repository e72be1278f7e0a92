import { describe, expect, it } from 'vitest';
import {
  liveChanges,
  readChanges,
  settingFields,
} from '../../../src-renderer/views/run/configuration/config-history.ts';
import { isPausedBy } from '../../../src-renderer/views/run/run-facts.ts';
import { runEvent, runRecord } from '../store/records.ts';

const config = {
  optimizer: { kind: 'sgd' as const, learningRate: 0.1 },
  earlyStopping: { enabled: true, patience: 7 },
};

describe('the dialog that changes a run', () => {
  const fields = settingFields(runRecord({ changed: { learningRate: 0.05 } }, config));

  it('starts from current values, with the ranges of the configuration', () => {
    expect(fields.map(({ name, value, reason }) => [name, value, reason])).toEqual([
      ['learningRate', 0.05, null],
      ['patience', 7, null],
    ]);
    expect(fields[0].option).toMatchObject({ default: 0.01, exclusiveMinimum: 0 });
    expect(settingFields(runRecord())[1].reason).toContain('Early stopping is off in this run');
  });

  it('requests only differences, and nothing while a value is invalid', () => {
    expect(readChanges(fields, { learningRate: '0.2', patience: '7' })).toEqual({
      changes: { learningRate: 0.2 },
      problems: {},
    });
    expect(readChanges(fields, { learningRate: '0.050' })).toEqual({ changes: null, problems: {} });
    expect(readChanges(fields, { learningRate: '0.2', patience: '2.5' })).toEqual({
      changes: null,
      problems: { patience: 'Enter a whole number of at least 1.' },
    });
  });
});

describe('changes during training', () => {
  const changed = (rank: number, to: number) =>
    runEvent({ kind: 'changed', rank, step: 5, data: { path: 'optimizer.learningRate', from: 0.1, to } });

  it("are listed with the ranks' steps, even when reverted", () => {
    const record = runRecord({ changed: { learningRate: 0.1 } }, config);
    const changes = liveChanges(record, [changed(0, 0.2), runEvent({ kind: 'print' }), changed(0, 0.1)]);
    expect(changes).toMatchObject([
      {
        path: 'optimizer.learningRate',
        configured: 0.1,
        now: 0.1,
        steps: [{ to: 0.2 }, { to: 0.1, rank: 0, step: 5 }],
      },
    ]);
    expect(liveChanges(runRecord({}, config), [])).toEqual([]);
  });

  it('include a pause, read from its events', () => {
    const eventsOf = (...kinds: string[]) => kinds.map((kind) => runEvent({ kind }));
    expect(isPausedBy(eventsOf('started', 'paused', 'changed'))).toBe(true);
    expect(isPausedBy(eventsOf('paused', 'resumed'))).toBe(false);
    expect(isPausedBy(eventsOf('paused', 'interrupted', 'started'))).toBe(false);
  });
});
