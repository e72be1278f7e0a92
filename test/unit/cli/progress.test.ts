import { describe, expect, it } from 'vitest';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { RunProgress } from '../../../src-main/cli/progress.ts';
import { facts, placementOf, pointsOf, recordOf } from './records.ts';

function begin(record = recordOf({ maxEpochs: 200 })): RunProgress {
  const progress = new RunProgress();
  progress.take({ type: 'record', record, folder: '/runs/blobs' }, 0);
  progress.take({ type: 'described', about: facts }, 0);
  return progress;
}

function moved(rank: number, step: number, epoch = 0, samplesPerSecond = 600): RunUpdate {
  return { type: 'progress', rank, epoch, step, totalSteps: 8000, samplesPerSecond, memoryBytes: 1 };
}

function evaluated(value: number, epoch: number): RunUpdate {
  return { type: 'points', rank: 0, batch: pointsOf([{ name: 'val/ens_nll', epoch, step: 40 * (epoch + 1), value }]) };
}

function lossOf(rank: number, value: number, step: number): RunUpdate {
  return { type: 'points', rank, batch: pointsOf([{ name: `train/member_${rank}_loss`, epoch: 0, step, value }]) };
}

describe('RunProgress', () => {
  it('is empty before the model is known', () => {
    const progress = new RunProgress();
    expect(progress.line()).toBeNull();
    progress.take({ type: 'record', record: recordOf(), folder: '' }, 0);
    expect(progress.line()).toBeNull();
  });

  it('follows the slowest rank and shows the mean loss until there is an evaluation', () => {
    const progress = begin();
    progress.take(lossOf(0, 1, 50), 0);
    progress.take(lossOf(1, 2, 30), 0);
    expect(progress.line()).toBe('epoch 1/200  step 30/8000  loss 1.500');
  });

  it('shows the ensemble, its best and when that was, throughput and remaining time', () => {
    const progress = begin();
    progress.take(moved(0, 20), 0);
    progress.take(moved(1, 20), 0);
    progress.take(evaluated(0.4101, 9), 5_000);
    progress.take(evaluated(0.41234, 10), 6_000);
    progress.take(moved(0, 490, 11), 9_000);
    progress.take(moved(1, 480, 11), 10_000);
    // 460 steps in 10 s, so 7520 more steps take 163.5 s.
    expect(progress.line()).toBe(
      'epoch 12/200  step 480/8000  ens NLL 0.4123 (best 0.4101 @ 10)  1.2k samples/s  ETA 2 m 43 s',
    );
    expect(progress.line(80)).toBe('epoch 12/200  step 480/8000  ens NLL 0.4123 (best 0.4101 @ 10)  ETA 2 m 43 s');
    expect(progress.evaluations).toBe(2);
  });

  it('forecasts from the last 30 s only', () => {
    const progress = begin();
    for (const rank of [0, 1]) progress.take(moved(rank, 100, 0, 0), 0);
    for (const rank of [0, 1]) progress.take(moved(rank, 200, 0, 0), 100_000);
    expect(progress.line()).toBe('epoch 1/200  step 200/8000');
    for (const rank of [0, 1]) progress.take(moved(rank, 300, 0, 0), 101_000);
    expect(progress.line()).toBe('epoch 1/200  step 300/8000  ETA 1 m 17 s');
  });

  it('never takes NaN as the best', () => {
    const progress = begin();
    progress.take(evaluated(0.5, 0), 0);
    progress.take(evaluated(Number.NaN, 1), 0);
    expect(progress.line()).toBe('epoch 1/200  step 0/8000  ens NLL – (NaN) (best 0.5000 @ 1)');
  });

  it('does not wait for a rank on standby', () => {
    const progress = begin();
    progress.take(moved(0, 50, 0, 0), 0);
    progress.take(moved(1, 80, 1, 0), 0);
    progress.take({ type: 'worker', rank: 0, state: 'standing-by', epoch: 0, step: 50, pid: 1 }, 0);
    expect(progress.line()).toBe('epoch 2/200  step 80/8000');
  });

  it('counts waves, including future ones in the forecast', () => {
    const progress = begin(recordOf({ maxEpochs: 200 }, { plan: [placementOf(0, 0), placementOf(1, 1)] }));
    progress.take(moved(0, 1000, 0, 0), 0);
    progress.take(moved(0, 4000, 99, 0), 3_000);
    expect(progress.line()).toBe('wave 1/2  epoch 100/200  step 4000/8000  ETA 12 s');
    progress.take({ type: 'worker', rank: 1, state: 'loading', epoch: 0, step: 0, pid: 2 }, 9_000);
    expect(progress.line()).toBe('wave 2/2  epoch 1/200  step 0/8000');
  });
});
