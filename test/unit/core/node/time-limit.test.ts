import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunningTime, TimeLimit } from '../../../../core/node/time-limit.ts';

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Time passes while the process runs. */
function run(ms: number): void {
  for (let passedMs = 0; passedMs < ms; passedMs += 10) {
    nowMs += 10;
    vi.advanceTimersByTime(10);
  }
}

/** Time passes while the process is stopped: no timer fires. */
function stop(ms: number): void {
  nowMs += ms;
}

function limitOf(limitMs: number): { limit: TimeLimit; exceededAtMs: number[] } {
  const exceededAtMs: number[] = [];
  return { limit: new TimeLimit(limitMs, () => exceededAtMs.push(nowMs)), exceededAtMs };
}

describe('a limit', () => {
  it.each([10, 200, 1_000, 2_500, 60_000])('of %i ms is exceeded once, after its time', (limitMs) => {
    const { exceededAtMs } = limitOf(limitMs);
    run(2 * limitMs);
    expect(exceededAtMs).toHaveLength(1);
    expect(exceededAtMs[0]).toBeGreaterThanOrEqual(limitMs);
    // One turn of the clock for each slice of a second.
    expect(exceededAtMs[0]).toBeLessThanOrEqual(limitMs + 10 * (limitMs / 1_000 + 2));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('starts again when it is restarted, and is never exceeded once it is stopped', () => {
    const { limit, exceededAtMs } = limitOf(2_000);
    for (let restart = 0; restart < 5; restart++) {
      run(1_990);
      limit.restart();
    }
    limit.stop();
    run(10_000);
    expect(exceededAtMs).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([600, 3_000, 8 * 3_600_000])(
    'starts again after a stop of the process by %i ms, whenever it comes',
    (stopMs) => {
      for (const beforeMs of [0, 500, 2_900]) {
        const { exceededAtMs } = limitOf(3_000);
        run(beforeMs);
        stop(stopMs);
        const wokenMs = nowMs;
        run(2_990);
        expect(exceededAtMs).toEqual([]);
        run(2_000);
        expect(exceededAtMs[0]).toBeGreaterThanOrEqual(wokenMs + 3_000);
      }
    },
  );

  it.each([
    { share: 0.5, expectedMs: 20_000 },
    { share: 0.9, expectedMs: 100_000 },
    { share: 2, expectedMs: Infinity },
  ])(
    'does not count the $share of the time in which the awaited process waits for a processor',
    ({ share, expectedMs }) => {
      const exceededAtMs: number[] = [];
      const halvesAtMs: number[] = [];
      const options = { halfway: () => halvesAtMs.push(nowMs), waitedMs: () => share * nowMs };
      const limit = new TimeLimit(10_000, () => exceededAtMs.push(nowMs), options);
      run(300_000);
      limit.stop();
      expect(exceededAtMs).toHaveLength(expectedMs === Infinity ? 0 : 1);
      expect(halvesAtMs).toHaveLength(expectedMs === Infinity ? 0 : 1);
      if (expectedMs === Infinity) return;
      expect(Math.abs(exceededAtMs[0] - expectedMs)).toBeLessThanOrEqual(0.02 * expectedMs);
      expect(Math.abs(halvesAtMs[0] - expectedMs / 2)).toBeLessThanOrEqual(0.02 * expectedMs);
    },
  );

  it('lets messages that wait be read before it is exceeded', () => {
    const { limit, exceededAtMs } = limitOf(100);
    vi.advanceTimersToNextTimer();
    limit.restart();
    vi.advanceTimersToNextTimer();
    expect(exceededAtMs).toEqual([]);
  });
});

describe('the time of a wait', () => {
  it('counts while the process runs, and begins again after a stop', () => {
    const time = new RunningTime();
    for (let look = 0; look < 100; look++) {
      stop(10);
      time.read();
    }
    expect(time.read()).toBe(1_000);
    stop(10_000);
    expect(time.read()).toBe(0);
    stop(20);
    expect(time.read()).toBe(20);
    time.restart();
    expect(time.read()).toBe(0);
  });
});
