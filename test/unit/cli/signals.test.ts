import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exitCodeOf } from '../../../src-main/cli/errors.ts';
import { watchSignals } from '../../../src-main/cli/signals.ts';

function watch() {
  const calls: string[] = [];
  const session = { control: ({ action }: { action: string }) => calls.push(action), abort: () => calls.push('abort') };
  const signals = watchSignals(session, () => calls.push('said'));
  return { calls, signals };
}

describe('watchSignals', () => {
  it('stops jointly at the first Ctrl-C and aborts at the second; copies of the first within half a second do not count', () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    onTestFinished(() => clock.mockRestore());
    const { calls, signals } = watch();
    process.emit('SIGINT');
    expect(calls).toEqual(['said', 'stop']);
    for (const ms of [1_000, 1_004, 1_500]) {
      clock.mockReturnValue(ms);
      process.emit('SIGINT');
    }
    expect(calls).toEqual(['said', 'stop']);
    clock.mockReturnValue(2_001);
    process.emit('SIGINT');
    expect(calls).toEqual(['said', 'stop', 'abort']);
    expect(signals.received).toBe('SIGINT');
    signals.release();
  });

  it.each(['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    'aborts immediately at %s, and stops listening once released',
    (signal) => {
      const before = process.listenerCount(signal);
      const { calls, signals } = watch();
      process.emit(signal);
      expect(calls).toEqual(['abort']);
      expect(signals.received).toBe(signal);
      signals.release();
      expect(process.listenerCount(signal)).toBe(before);
    },
  );
});

describe('exitCodeOf', () => {
  it('returns the code of each way that a run ends', () => {
    expect(exitCodeOf('finished', null)).toBe(0);
    expect(exitCodeOf('finished', 'SIGINT')).toBe(0);
    expect(exitCodeOf('failed', 'SIGINT')).toBe(1);
    expect(exitCodeOf('stopped', null)).toBe(3);
    expect(exitCodeOf('stopped', 'SIGINT')).toBe(130);
    expect(exitCodeOf('interrupted', 'SIGTERM')).toBe(143);
    expect(exitCodeOf('interrupted', 'SIGHUP')).toBe(129);
    expect(exitCodeOf('interrupted', 'SIGQUIT')).toBe(131);
  });
});
