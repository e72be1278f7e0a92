import { describe, expect, it } from 'vitest';
import { eventMarks } from '../../../src-renderer/views/run/live/event-marks.ts';
import { runEvent } from '../store/records.ts';

const startMs = Date.parse('2026-01-02T03:04:05.000Z');
const base = { rankCount: 2, stepsPerEpoch: 10, startMs };
const changed = (rank: number, step: number, attempt = 1) =>
  runEvent({ kind: 'changed', rank, step, attempt, data: { path: 'optimizer.learningRate', from: 1, to: 0.5 } });

describe('marks of events', () => {
  it('are at their step, epoch and time', () => {
    const stop = runEvent({ kind: 'stop-requested', step: 25, time: '2026-01-02T03:04:08.500Z' });
    expect(eventMarks([stop], base)).toEqual([{ x: { step: 25, epoch: 2.5, time: 3.5 }, label: 'stop' }]);
  });

  it('are merged for ranks with the same event, at the earliest step, and name the ranks unless all have it', () => {
    const marksOf = (...events: ReturnType<typeof changed>[]) =>
      eventMarks(events, base).map(({ label, x }) => [label, x.step]);
    expect(marksOf(changed(0, 7), changed(1, 7))).toEqual([['learning rate 0.5', 7]]);
    expect(marksOf(changed(0, 9), changed(1, 7))).toEqual([['learning rate 0.5', 7]]);
    expect(marksOf(changed(1, 7))).toEqual([['rank 1: learning rate 0.5', 7]]);
  });

  it('are separate if a rank has the same event twice', () => {
    const events = [changed(0, 7), changed(1, 8), changed(0, 20), changed(1, 21)];
    expect(eventMarks(events, base).map(({ x }) => x.step)).toEqual([7, 20]);
  });

  it('state briefly what ended a run, and for whom', () => {
    const labelOf = (event: ReturnType<typeof runEvent>) => eventMarks([event], base).at(0)?.label;
    const stopped = (metric: string) =>
      runEvent({ kind: 'early-stopping', rank: 1, step: 9, message: `${metric}: no improvement in 3 evaluations.` });
    expect(labelOf(stopped('val/ens_nll'))).toBe('early stop');
    expect(labelOf(stopped('val/member_1_nll'))).toBe('rank 1: early stop');
    expect(labelOf(runEvent({ kind: 'non-finite-loss', rank: 1, step: 9 }))).toBe('rank 1: loss not finite');
  });

  it('omit events without a step, without effect on curves, or undone by a resume or a restart', () => {
    const events = [
      runEvent({ kind: 'started' }),
      runEvent({ kind: 'stop-requested' }),
      runEvent({ kind: 'checkpoint', step: 3, rank: 0 }),
      changed(0, 20),
      changed(0, 40),
      runEvent({ kind: 'started', attempt: 2, step: 30 }),
      changed(0, 50, 2),
      changed(0, 60, 2),
      runEvent({ kind: 'restarted', attempt: 3, step: 55, data: { rank: 1, ranks: [0, 1] } }),
    ];
    expect(eventMarks(events, base).map(({ label, x }) => [label, x.step])).toEqual([
      ['rank 0: learning rate 0.5', 20],
      ['resumed, attempt 2', 30],
      ['rank 0: learning rate 0.5', 50],
      ['restarted, rank 1 was lost', 55],
    ]);
  });
});
