import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { TerminalReport } from '../../../src-main/cli/terminal-report.ts';
import { facts, pointsOf, recordOf } from './records.ts';

const record = recordOf({ maxEpochs: 4 });

function watch({ isTTY = false, quiet = false }) {
  const written: string[] = [];
  const report = new TerminalReport({ isTTY, columns: 80, write: (text) => written.push(text) }, { quiet });
  report.take({ type: 'record', record, folder: '/runs/blobs' });
  report.take({ type: 'described', about: facts });
  return { report, written };
}

function evaluated(epoch: number): RunUpdate {
  return { type: 'points', rank: 0, batch: pointsOf([{ name: 'val/ens_nll', epoch, step: 4, value: 0.5 }]) };
}

function event(kind: string, message: string): RunUpdate {
  const event = { time: '', attempt: 1, rank: 1, kind, message, epoch: null, step: null, data: {} };
  return { type: 'event', event };
}

describe('TerminalReport', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('introduces the run once: project, members, strategy, plan, folder', () => {
    const { report, written } = watch({});
    report.take({ type: 'record', record, folder: '/runs/blobs' });
    expect(written.join('')).toBe(
      'Blobs (classification) · 2 members · independent\n' +
        '  cpu:0  Core  rank 0\n  cpu:1  Core  rank 1\ninto /runs/blobs\n\n',
    );
  });

  it('adds a line at an evaluation at most once a second, and otherwise every 10 s', () => {
    const { report, written } = watch({});
    const lines = () => written.splice(0).join('');
    lines();
    vi.advanceTimersByTime(1_000);
    report.take(evaluated(0));
    expect(lines()).toBe('epoch 1/4  step 0/8000  ens NLL 0.5000 (best 0.5000 @ 1)\n');
    vi.advanceTimersByTime(999);
    report.take(evaluated(1));
    expect(lines()).toBe('');
    vi.advanceTimersByTime(1);
    report.take({ type: 'worker', rank: 0, state: 'training', epoch: 0, step: 0, pid: 1 });
    expect(lines()).toMatch(/^epoch .*\n$/);
    vi.advanceTimersByTime(9_999);
    report.take({ type: 'worker', rank: 0, state: 'training', epoch: 0, step: 0, pid: 1 });
    expect(lines()).toBe('');
    vi.advanceTimersByTime(1);
    report.take({ type: 'worker', rank: 0, state: 'training', epoch: 0, step: 0, pid: 1 });
    expect(lines()).toMatch(/^epoch .*\n$/);
  });

  it('redraws one line in a terminal, at most ten times a second', () => {
    const { report, written } = watch({ isTTY: true });
    vi.advanceTimersByTime(100);
    written.length = 0;
    for (let step = 0; step < 50; step += 1) {
      report.take(evaluated(0));
      vi.advanceTimersByTime(10);
    }
    expect(written.length).toBeGreaterThanOrEqual(4);
    expect(written.length).toBeLessThanOrEqual(5);
    expect(new Set(written)).toEqual(new Set(['\r\u001B[Kepoch 1/4  step 0/8000  ens NLL 0.5000 (best 0.5000 @ 1)']));
  });

  it("prints the project's output and important events, but not everything", () => {
    const { report, written } = watch({});
    written.length = 0;
    report.take(event('print', 'Ensemble   MSE 0.5'));
    report.take(event('non-finite-loss', 'Loss was NaN first at step 3.'));
    report.take(event('checkpoint', 'Kept checkpoint "final".'));
    expect(written.join('')).toBe('Ensemble   MSE 0.5\nrank 1: Loss was NaN first at step 3.\n');
  });

  it('prints only how the run ended in quiet mode', () => {
    const { report, written } = watch({ quiet: true });
    report.take(evaluated(0));
    expect(written).toEqual([]);
    report.end({ ...record, status: 'interrupted' }, '/runs/blobs');
    expect(written.join('')).toBe('interrupted after 0 s\n\nfolder: /runs/blobs\n');
  });
});
