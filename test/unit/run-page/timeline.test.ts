import { describe, expect, it } from 'vitest';
import { Timeline } from '../../../src-renderer/views/run/live/event-marks.ts';

/** 20 steps per epoch. The second epoch took three times as long. */
const line = {
  x: {
    step: Int32Array.of(10, 20, 30, 40),
    epoch: Float64Array.of(0.5, 1, 1.5, 2),
    time: Float64Array.of(1, 2, 5, 8),
  },
  length: 4,
};

describe('Timeline', () => {
  it('converts between axis and clock', () => {
    const steps = new Timeline('step', [{ ...line, length: 1 }, line]);
    expect([steps.secondsAt(30), steps.xAt(7)]).toEqual([5, 40]);
    const epochs = new Timeline('epoch', [line]);
    expect([epochs.secondsAt(1.1), epochs.xAt(2.2)]).toEqual([2, 1]);
  });

  it('leaves a time axis unchanged, with or without lines', () => {
    const timeline = new Timeline('time', []);
    expect([timeline.secondsAt(3.5), timeline.xAt(7)]).toEqual([3.5, 7]);
    expect(timeline.range({ from: 2, to: 3 }, 10)).toEqual({ from: 2, to: 3 });
  });

  it('shows the zoomed part of the charts, or else everything', () => {
    const steps = new Timeline('step', [line]);
    expect(steps.range({ from: 20, to: 40 }, 10)).toEqual({ from: 2, to: 8 });
    expect(steps.range(null, 10)).toEqual({ from: 0, to: 10 });
    expect(steps.range({ from: 21, to: 22 }, 10)).toEqual({ from: 0, to: 10 });
    expect(new Timeline('step', [{ ...line, x: { ...line.x, time: null } }]).range({ from: 1, to: 2 }, 10)).toEqual({
      from: 0,
      to: 10,
    });
  });
});
