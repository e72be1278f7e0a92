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

it.skipIf(process.platform !== 'linux')(
  'counts as its own what a process computes with several threads, and its sleep (run on Linux)',
  async () => {
    const threads = `const { Worker } = require('node:worker_threads');
    for (let i = 0; i < 8; i++) new Worker('for (;;);', { eval: true });`;
    const children = [threads, 'setInterval(() => {}, 1e6);'].map((code) =>
      spawn(process.execPath, ['-e', code], { stdio: 'ignore' }),
    );
    onTestFinished(() => children.forEach((child) => void child.kill('SIGKILL')));
    const [spinning, sleeping] = children.map(({ pid = 0 }) => new ProcessorTime(pid));
    await expect.poll(() => spinning.computedMs(), { timeout: 60_000 }).toBeGreaterThan(1_500);
    const sinceMs = performance.now();
    const before = [spinning.computedMs(), spinning.waitedMs(), sleeping.waitedMs()];
    await expect.poll(() => spinning.computedMs() - before[0], { timeout: 60_000 }).toBeGreaterThan(300);
    // Eight threads wait most of the time, and what they compute counts nevertheless.
    const passedMs = performance.now() - sinceMs;
    expect(passedMs - (spinning.waitedMs() - before[1])).toBeGreaterThan(200);
    expect(sleeping.waitedMs() - before[2]).toBeLessThan(passedMs);
  },
  150_000,
);
