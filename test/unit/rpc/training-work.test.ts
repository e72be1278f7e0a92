import { expect, it, vi } from 'vitest';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { TrainingWork } from '../../../src-main/hub/training-work.ts';

/** Only what is read of a record. */
const record = (name: string, members: number): RunUpdate =>
  ({
    type: 'record',
    record: { name, plan: Array.from({ length: members }) },
    folder: '/runs/x',
  }) as unknown as RunUpdate;
const progress = (rank: number, step: number, totalSteps: number): RunUpdate => ({
  type: 'progress',
  rank,
  epoch: 0,
  step,
  totalSteps,
  samplesPerSecond: 1,
  memoryBytes: 1,
});
const worker = (rank: number, state: 'paused' | 'training'): RunUpdate => ({
  type: 'worker',
  rank,
  state,
  epoch: 0,
  step: 0,
  pid: null,
});
const ended = { type: 'ended', record: {} } as unknown as RunUpdate;

it('says how far each run is: the mean over all members, also over those of later waves', () => {
  const training = new TrainingWork();
  training.begin();
  training.take('a', record('Wide', 4));
  expect(training.runs).toEqual([{ id: 'a', name: 'Wide', share: null, isPaused: false }]);
  training.take('a', progress(0, 50, 100));
  training.take('a', progress(1, 100, 100));
  // (0.5 + 1 + 0 + 0) / 4
  expect(training.runs[0].share).toBe(0.375);
  training.take('b', record('Deep', 1));
  training.take('b', progress(0, 3, 12));
  expect(training.runs.map(({ id, share }) => [id, share])).toEqual([
    ['a', 0.375],
    ['b', 0.25],
  ]);
  training.take('a', ended);
  expect(training.runs.map(({ id }) => id)).toEqual(['b']);
});

it('is never above the whole, and ignores steps before the number of all steps is known', () => {
  const training = new TrainingWork();
  training.begin();
  training.take('a', record('Wide', 1));
  training.take('a', progress(0, 5, 0));
  expect(training.runs[0].share).toBeNull();
  training.take('a', progress(0, 7, 6));
  expect(training.runs[0].share).toBe(1);
});

it('is paused while a rank is', () => {
  const training = new TrainingWork();
  training.begin();
  training.take('a', record('Wide', 2));
  training.take('a', worker(1, 'paused'));
  expect(training.runs[0].isPaused).toBe(true);
  training.take('a', worker(1, 'training'));
  expect(training.runs[0].isPaused).toBe(false);
});

it('counts what goes on, and tells of its end', () => {
  const training = new TrainingWork();
  const told = vi.fn<() => void>();
  training.subscribe(told);
  const [endRun, endSweep] = [training.begin(), training.begin()];
  training.take('a', record('Wide', 1));
  endRun();
  endRun();
  expect([training.count, training.runs.length]).toEqual([1, 1]);
  endSweep();
  // A run without a report of its end is gone with the last work.
  expect([training.count, training.runs]).toEqual([0, []]);
  expect(told).toHaveBeenCalledTimes(5);
});
