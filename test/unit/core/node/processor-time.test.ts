import { spawn, spawnSync } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { ProcessorTime } from '../../../../core/node/time-limit.ts';

/** Binds a process to core 0. */
const bound: readonly string[] = ['taskset', '--cpu-list', '0'];
const canBind = process.platform === 'linux' && spawnSync(bound[0], [...bound.slice(1), 'true']).status === 0;

/** A process that computes on core 0 until the test ends. */
function compute(before: readonly string[] = []): number {
  const [program, ...args] = [...before, ...bound, process.execPath, '-e', 'for (;;);'];
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  onTestFinished(() => void process.kill(-(child.pid ?? 0), 'SIGKILL'));
  return child.pid ?? 0;
}

it.skipIf(!canBind)(
  'tells how long a process waited for a processor that another one has (run on Linux with util-linux)',
  async () => {
    const time = new ProcessorTime(compute());
    compute();
    await expect.poll(time.waitedMs, { timeout: 30_000 }).toBeGreaterThan(300);
    const sinceMs = performance.now();
    const before = { waitedMs: time.waitedMs(), computedMs: time.computedMs() };
    expect(before.computedMs).toBeGreaterThan(10);
    await expect.poll(() => time.waitedMs() - before.waitedMs, { timeout: 30_000 }).toBeGreaterThan(200);
    // One thread computes or waits, and does not do both.
    const passedMs = time.waitedMs() - before.waitedMs + time.computedMs() - before.computedMs;
    expect(passedMs).toBeLessThan(1.1 * (performance.now() - sinceMs) + 50);
  },
  60_000,
);

it.skipIf(!canBind)('counts the child of a shell, too (run on Linux with util-linux)', async () => {
  const time = new ProcessorTime(compute(['sh', '-c', '"$@" & wait', 'sh']));
  compute();
  await expect.poll(time.waitedMs, { timeout: 30_000 }).toBeGreaterThan(200);
});

it('is 0 for a process that has ended', () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  const time = new ProcessorTime(pid);
  expect(time.waitedMs()).toBe(0);
  expect(time.computedMs()).toBe(0);
});
