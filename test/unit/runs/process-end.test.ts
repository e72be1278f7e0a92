import { describe, expect, it } from 'vitest';
import { memoryKills } from '../../../src-main/processes/memory-kills.ts';
import { ProcessEnd } from '../../../src-main/runs/workers/worker-child.ts';

/** Counts that follow each other; the last one stays. */
function counts(...values: (number | null)[]): () => number | null {
  return () => (values.length > 1 ? values.shift() : values[0]) ?? null;
}

describe('the end of a worker process', () => {
  it.each([
    { code: 7, signal: null, kills: counts(0), how: 'exited with code 7' },
    { code: null, signal: 'SIGKILL', kills: counts(3, 3), how: 'was killed by SIGKILL' },
    { code: null, signal: 'SIGKILL', kills: counts(null), how: 'was killed by SIGKILL' },
    { code: null, signal: 'SIGTERM', kills: counts(3, 4), how: 'was killed by SIGTERM' },
  ] as const)('by code $code or signal $signal', ({ code, signal, kills, how }) => {
    expect(new ProcessEnd(kills).describe(code, signal)).toBe(how);
  });

  it('names the out-of-memory killer if the kernel counted another kill meanwhile', () => {
    expect(new ProcessEnd(counts(3, 4)).describe(null, 'SIGKILL')).toBe(
      "was killed by SIGKILL when memory ran out: the kernel's out-of-memory killer ended a process meanwhile. " +
        'Use fewer members at a time or smaller batches',
    );
  });

  // As Node 24 prints them.
  it.each([
    'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
    'FATAL ERROR: Ineffective mark-compacts near heap limit Allocation failed - JavaScript heap out of memory',
    'FATAL ERROR: invalid array length Allocation failed - JavaScript heap out of memory',
  ])('names a full heap: %s', (line) => {
    const end = new ProcessEnd(counts(0));
    for (const printed of ['<--- Last few GCs --->', line, '----- Native stack trace -----']) end.write(printed);
    expect(end.describe(null, 'SIGABRT')).toMatch(/^ran out of memory: JavaScript's heap reached its limit\./);
  });

  it('is no full heap where a process ends well after it printed such a line', () => {
    const end = new ProcessEnd(counts(0));
    end.write('FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory');
    expect(end.describe(0, null)).toBe('exited with code 0');
  });
});

describe('the count of out-of-memory kills', () => {
  const reader = (files: Record<string, string>) => (path: string) => files[path] ?? null;
  const events = (kills: number) => `low 0\nhigh 0\nmax 12\noom 3\noom_kill ${kills}\noom_group_kill 0\n`;

  it('is that of the control group, version 2', () => {
    const group = '/sys/fs/cgroup/user.slice/session-4.scope/memory.events';
    const files = {
      '/proc/self/cgroup': '0::/user.slice/session-4.scope\n',
      [group]: events(2),
      '/proc/vmstat': 'pgfault 5\noom_kill 9\n',
    };
    expect(memoryKills(reader(files))).toBe(2);
  });

  it('is that of the container, whose group is the root of what it sees', () => {
    const files = { '/proc/self/cgroup': '0::/docker/4711\n', '/sys/fs/cgroup/memory.events': events(1) };
    expect(memoryKills(reader(files))).toBe(1);
  });

  it('is that of the control group, version 1', () => {
    const files = {
      '/proc/self/cgroup': '9:name=systemd:/\n4:cpu,memory:/jobs/7\n0::/\n',
      '/sys/fs/cgroup/memory/jobs/7/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 4\n',
      '/proc/vmstat': 'oom_kill 9\n',
    };
    expect(memoryKills(reader(files))).toBe(4);
  });

  it('is that of the machine where no group counts, and null on other systems', () => {
    expect(memoryKills(reader({ '/proc/vmstat': 'pgfault 5\noom_kill 9\n' }))).toBe(9);
    expect(memoryKills(reader({}))).toBeNull();
  });
});
