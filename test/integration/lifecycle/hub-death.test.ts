import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { Hub } from '../../../src-main/hub/hub.ts';
import { findResumePoint } from '../../../src-main/store/runs/resume-point.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import {
  isRunning,
  mergedMetrics,
  metricValues,
  projectFolder,
  readCheckpointRecord,
  resume,
  train,
  useHub,
} from '../harness.ts';
import { noMemoryFolder, notRun } from '../../environment/reasons.ts';

const { hub, home } = useHub();
const entry = fileURLToPath(new URL('hub-process.ts', import.meta.url));

interface HubProcess {
  child: ChildProcess;
  folder: string;
  /** Indexed by rank. */
  pids: Map<number, number>;
}

interface Line {
  rank?: number;
  pid?: number;
  state?: string;
  evaluatedStep?: number;
  reportedStep?: number;
}

/** Starts a run under a separate hub and waits for a line of its output. */
async function startHub(
  project: string,
  name: string,
  config: RunConfigInput,
  isAwaited: (line: Line) => boolean,
): Promise<HubProcess> {
  const folder = join(home(), 'runs', name);
  const args = [entry, projectFolder(project), folder, JSON.stringify(config)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const pids = new Map<number, number>();
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line;
    if (line.rank !== undefined && line.pid !== undefined) pids.set(line.rank, line.pid);
    if (isAwaited(line)) return { child, folder, pids };
  }
  throw new Error('The hub ended before it said what was waited for.');
}

async function end({ child }: HubProcess, signal: NodeJS.Signals): Promise<void> {
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** No worker outlives its hub by more than 5 s and a margin for a busy machine. */
async function expectNoOrphans({ pids }: HubProcess, count = 2): Promise<void> {
  expect(pids.size).toBe(count);
  await expect.poll(() => [...pids.values()].filter(isRunning), { interval: 50 }).toEqual([]);
}

async function reopen(): Promise<string[]> {
  const next = await Hub.open();
  const { notices } = next;
  next.close();
  return notices;
}

describe('a hub that dies', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'refuses to resume its run while it lives, leaves no orphan after %s, and the next hub marks its run as interrupted',
    async (signal) => {
      const config = { members: 2, devices: 2, maxEpochs: 1_000_000 };
      const running = await startHub('blobs', `by-${signal}`, config, ({ evaluatedStep = 0 }) => evaluatedStep > 0);
      await expect(resume(hub(), running.folder)).rejects.toThrow(
        /is running under process \d+ on .+, which holds its lock: a run has one hub\./,
      );
      await end(running, signal);
      await expectNoOrphans(running);
      expect((await readRunRecord(running.folder)).status).toBe('running');
      const notices = await reopen();
      expect(notices.join('\n')).toContain('was interrupted: its process is gone.');
      const record = await readRunRecord(running.folder);
      expect(record).toMatchObject({ status: 'interrupted', hub: null, attempts: [{ status: 'interrupted' }] });
      expect(await reopen()).toEqual([]);
    },
  );

  it('leaves no orphan even if a rank is in an endless loop', async () => {
    const config = { members: 2, devices: 2, hyperparameters: { fault: 'loop', atStep: 0 } };
    const running = await startHub('faulty', 'loop', config, ({ rank, state }) => rank === 1 && state === 'training');
    await end(running, 'SIGKILL');
    await expectNoOrphans(running);
    expect(await reopen()).toHaveLength(1);
  });
});

it.skipIf(noMemoryFolder !== null).each(['local', 'broadcast', 'shared'] as const)(
  `a killed hub leaves no data in memory (%s)${notRun(noMemoryFolder)}`,
  async (mode) => {
    const config: RunConfigInput = { members: 2, devices: 2, maxEpochs: 1_000_000, data: { mode } };
    const running = await startHub('blobs', `data-${mode}`, config, ({ evaluatedStep = 0 }) => evaluatedStep > 0);
    await end(running, 'SIGKILL');
    await expectNoOrphans(running);
    const left = readdirSync('/dev/shm')
      .filter((name) => name.startsWith(`tutti-${running.child.pid}-`))
      .flatMap((folder) => readdirSync(join('/dev/shm', folder), { recursive: true, encoding: 'utf8' }));
    expect(left.filter((name) => name.endsWith('.bin'))).toEqual([]);
  },
);

describe('a resumed run', () => {
  it('ends with the losses and weights of an uninterrupted run, bit for bit', async () => {
    const config: RunConfigInput = {
      members: 2,
      devices: 2,
      maxEpochs: 20,
      // Does not divide an epoch's 3 steps: the interrupted interval has to continue where it was.
      logEverySteps: 2,
      optimizer: { kind: 'adamw' },
      checkpoints: { stateEverySeconds: 0 },
    };
    const whole = await train(hub(), 'blobs', config);
    const running = await startHub('blobs', 'resumed', config, ({ evaluatedStep = 0 }) => evaluatedStep >= 9);
    await end(running, 'SIGKILL');
    await expectNoOrphans(running);
    expect(metricValues(running.folder, 'val/ens_nll').length).toBeLessThan(20);
    await reopen();

    const record = await resume(hub(), running.folder);
    expect(record.attempts.map(({ status }) => status)).toEqual(['interrupted', 'finished']);
    expect(record.summary?.best).toEqual(whole.record.summary?.best);
    expect(record.summary?.evaluatedSets).toEqual(whole.record.summary?.evaluatedSets);
    expect(await mergedMetrics(running.folder)).toEqual(await mergedMetrics(whole.folder));
    for (const rank of [0, 1]) {
      for (const name of ['final', 'ensemble-best', 'member-best']) {
        const { sha256, epoch } = readCheckpointRecord(running.folder, rank, name);
        expect({ sha256, epoch }).toEqual({
          sha256: readCheckpointRecord(whole.folder, rank, name).sha256,
          epoch: readCheckpointRecord(whole.folder, rank, name).epoch,
        });
      }
    }
    expect((await readEvents(running.folder)).some(({ kind }) => kind === 'interrupted')).toBe(true);
  });

  it.each([
    ['independent', { kind: 'independent' }, 0],
    ['joint, pipelined', { kind: 'joint', mode: 'pipelined' }, 2],
    ['sharded', { kind: 'sharded' }, 1],
    ['pipeline', { kind: 'pipeline' }, 1],
  ] as const)(
    'continues from the step at which its ranks were when the hub died, long after the last regular state (%s)',
    async (name, strategy, repeatedSteps) => {
      const config: RunConfigInput = {
        members: 3,
        devices: 2,
        strategy,
        maxEpochs: 6,
        evaluateEveryEpochs: 3,
        logEverySteps: 7,
        hyperparameters: { samples: 1500 },
        checkpoints: { stateEverySeconds: 3600 },
      };
      const whole = await train(hub(), 'blobs', config);
      const isAwaited = ({ reportedStep = 0 }: Line): boolean => reportedStep > 40;
      const running = await startHub('blobs', `within-a-round-${name}`, config, isAwaited);
      await end(running, 'SIGKILL');
      await expectNoOrphans(running, 3);
      const point = await findResumePoint(running.folder, [0, 1, 2]);
      expect(point?.step).toBeGreaterThan(40 - repeatedSteps);
      await reopen();
      expect((await resume(hub(), running.folder)).status).toBe('finished');
      expect(await mergedMetrics(running.folder)).toEqual(await mergedMetrics(whole.folder));
      for (const rank of strategy.kind === 'sharded' || strategy.kind === 'pipeline' ? [0] : [0, 1, 2]) {
        const { sha256 } = readCheckpointRecord(whole.folder, rank, 'final');
        expect(readCheckpointRecord(running.folder, rank, 'final').sha256).toBe(sha256);
      }
    },
  );
});
