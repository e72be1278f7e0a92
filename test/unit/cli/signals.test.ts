import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../src-main/cli/errors.ts';
import { watchSignals } from '../../../src-main/cli/signals.ts';

function watch() {
  const calls: string[] = [];
  const session = { control: ({ action }: { action: string }) => calls.push(action), abort: () => calls.push('abort') };
  const signals = watchSignals(session, () => calls.push('said'));
  return { calls, signals };
}

describe('watchSignals', () => {
  it('stops jointly at the first Ctrl-C and aborts at the second', () => {
    const { calls, signals } = watch();
    process.emit('SIGINT');
    expect(calls).toEqual(['said', 'stop']);
    process.emit('SIGINT');
    expect(calls).toEqual(['said', 'stop', 'abort']);
    expect(signals.received).toBe('SIGINT');
    signals.release();
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('aborts immediately at %s, and stops listening once released', (signal) => {
    const before = process.listenerCount(signal);
    const { calls, signals } = watch();
    process.emit(signal);
    expect(calls).toEqual(['abort']);
    expect(signals.received).toBe(signal);
    signals.release();
    expect(process.listenerCount(signal)).toBe(before);
  });
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
  });
});
