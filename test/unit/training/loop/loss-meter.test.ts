import { describe, expect, it } from 'vitest';
import { LossMeter, type SavedLosses } from '../../../../workers/training/loss-meter.ts';
import type { Position } from '../../../../workers/member/report.ts';
import { KeptReport } from './fakes.ts';

const at = (step: number) => ({ epoch: 1, step });

function createMeter(everySteps: number, losses?: SavedLosses) {
  const report = new KeptReport();
  return { report, meter: new LossMeter(report, everySteps, 3, losses) };
}

/** A step of ten samples. */
function step(meter: LossMeter, loss: number, updated: boolean, position: Position, learningRate: number): void {
  meter.add({ loss, updated }, position);
  meter.endStep(10, position, learningRate);
}

const named = (report: KeptReport, name: string) => report.points.filter((point) => point.name === name);

describe('LossMeter', () => {
  it('reports the mean loss since the last point, and the learning rate, at the logging interval', () => {
    const { report, meter } = createMeter(2);
    [4, 2, 1].forEach((loss, i) => step(meter, loss, true, at(i + 1), 0.1));
    step(meter, 2, true, at(4), 0.05);
    expect(named(report, 'train/member_3_loss')).toMatchObject([
      { value: 3, epoch: 1, step: 2 },
      { value: 1.5, epoch: 1, step: 4 },
    ]);
    expect(named(report, 'train/member_3_lr').map(({ value }) => value)).toEqual([0.1, 0.05]);
  });

  it('leaves out losses without an update; without any update there is no loss to report', () => {
    const { report, meter } = createMeter(2);
    step(meter, NaN, false, at(1), 0.1);
    step(meter, 6, true, at(2), 0.1);
    step(meter, Infinity, false, at(3), 0.1);
    step(meter, NaN, false, at(4), 0.1);
    expect(named(report, 'train/member_3_loss').map(({ value }) => value)).toEqual([6]);
    expect(named(report, 'train/member_3_lr')).toHaveLength(2);
  });

  it('ends a round with its mean and its first non-finite loss, and resets both', () => {
    const { report, meter } = createMeter(100);
    step(meter, 1, true, at(1), 0.1);
    step(meter, Infinity, false, at(2), 0.1);
    step(meter, NaN, false, at(3), 0.1);
    step(meter, 3, true, at(4), 0.1);
    meter.endTraining();
    expect(meter).toMatchObject({ meanLoss: 2, nonFinite: { epoch: 1, step: 2, loss: Infinity } });
    const message = 'Loss was Infinity first at step 2; 2 update(s) were skipped.';
    expect(report.events).toMatchObject([{ kind: 'non-finite-loss', message, epoch: 1, step: 2 }]);
    meter.reportRound(at(4));
    expect(named(report, 'train/member_3_samples_per_second')).toHaveLength(1);
    meter.nextRound();
    expect(meter).toMatchObject({ meanLoss: NaN, nonFinite: null });
    meter.endTraining();
    meter.reportRound(at(4));
    expect(report.events).toHaveLength(1);
    expect(named(report, 'train/member_3_samples_per_second')).toHaveLength(1);
  });

  it('continues within an interval where an earlier attempt stopped', () => {
    const whole = createMeter(3);
    [1, 5].forEach((loss, i) => step(whole.meter, loss, true, at(i + 1), 0.1));
    const resumed = createMeter(3, whole.meter.state);
    for (const { meter } of [whole, resumed]) step(meter, 3, true, at(3), 0.1);
    expect(named(resumed.report, 'train/member_3_loss')).toMatchObject([{ value: 3 }]);
    expect(resumed.report.points).toEqual(whole.report.points);
  });

  it('continues within a round where an earlier attempt stopped', () => {
    const { meter } = createMeter(100);
    [1, 5].forEach((loss, i) => step(meter, loss, true, at(i + 1), 0.1));
    const resumed = createMeter(100, meter.state).meter;
    step(resumed, 3, true, at(3), 0.1);
    expect(resumed.meanLoss).toBe(3);
    expect(resumed.state.round).toMatchObject({ steps: 3, samples: 30 });
  });
});
