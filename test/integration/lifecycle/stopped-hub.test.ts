import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { notRun } from '../../environment/reasons.ts';
import { projectFolder, useHub } from '../harness.ts';

const { home } = useHub();
const entry = fileURLToPath(new URL('hub-process.ts', import.meta.url));
const noSignals = process.platform === 'win32' ? 'Windows cannot stop a process' : null;

/**
 * Longer than the limits of a running rank here: when the hub wakes, its timers are due before it has read a message.
 */
const stopMs = 5_000;
const limits = { silenceMs: 1_500, collectiveMs: 1_500, firstCollectiveMs: 4_000, exitMs: 1_500 };

/** A run under a separate hub, from its first evaluation on. */
async function startTraining(
  folder: string,
  config: RunConfigInput,
): Promise<{ pids: number[]; ended: Promise<unknown> }> {
  const args = [entry, projectFolder('blobs'), folder, JSON.stringify(config)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const workers = new Set<number>();
  const evaluated = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line: { pid?: number; evaluatedStep?: number } = JSON.parse(text);
    if (line.pid !== undefined) workers.add(line.pid);
    if (line.evaluatedStep !== undefined) evaluated.resolve();
  });
  await Promise.race([evaluated.promise, ended]);
  return { pids: [child.pid ?? 0, ...workers], ended };
}

describe.skipIf(noSignals !== null)(`a hub that was stopped for longer than its limits${notRun(noSignals)}`, () => {
  it.each([
    ['alone, as by Ctrl-Z', 'independent'],
    ['alone, as by Ctrl-Z', 'joint'],
    ['with its workers, as by a sleeping laptop', 'independent'],
    ['with its workers, as by a sleeping laptop', 'joint'],
  ] as const)('%s, finishes its run (%s)', async (how, kind) => {
    const folder = join(home(), 'runs', `${how.split(' ')[0].replace(',', '')}-${kind}`);
    const policies: RunConfigInput = { strategy: { kind }, timeouts: limits, onMemberLoss: { kind: 'stop' } };
    const { pids, ended } = await startTraining(folder, { members: 2, devices: 2, maxEpochs: 60, ...policies });
    const stopped = how.startsWith('alone') ? pids.slice(0, 1) : pids;
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    await wait(stopMs);
    for (const pid of stopped) process.kill(pid, 'SIGCONT');
    await ended;
    expect(await readRunRecord(folder)).toMatchObject({ status: 'finished', error: null, attempts: [{}] });
  });
});
