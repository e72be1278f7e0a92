import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunError } from '../../../core/protocol/run/record.ts';
import { readMetrics } from '../metric-table.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { readCheckpoint } from '../../../workers/checkpoints/checkpoint-store.ts';
import {
  isRunning,
  pidOf,
  pidOnceTraining,
  projectFolder,
  startRun,
  train,
  useHub,
  type WatchedRun,
} from '../harness.ts';

const { hub } = useHub();

const onMemberLoss = { kind: 'stop' } as const;
/** Trains until something ends it. */
const endless: RunConfigInput = { members: 2, devices: 'cpu:0,1', maxEpochs: 1_000_000, onMemberLoss };
const faulty = (fault: string, config: RunConfigInput = {}): RunConfigInput => ({
  members: 2,
  devices: 'cpu:0,1',
  onMemberLoss,
  ...config,
  hyperparameters: { fault },
});

function runningPids({ updates }: WatchedRun): number[] {
  return [0, 1].map((rank) => pidOf(updates, rank)).filter(isRunning);
}

/** The second step of the second epoch goes wrong. The hub may or may not know about the one before. */
function expectPositionBeforeFault(error: RunError | null): void {
  expect([
    { epoch: 0, step: 3 },
    { epoch: 1, step: 4 },
  ]).toContainEqual({ epoch: error?.epoch, step: error?.step });
}

describe('a worker that dies', () => {
  it('by SIGKILL fails the run within seconds with a description, and loses nothing that was written', async () => {
    const run = await startRun(hub(), 'blobs', endless);
    const pid = await pidOnceTraining(run, 1);
    // Other users of the machine can read it, so it holds no token.
    const command = process.platform === 'linux' ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
    expect(command.replaceAll('\0', ' ')).toMatch(/^$|worker\.[jt]s 1 leaves (un)?guarded $/);
    process.kill(pid, 'SIGKILL');
    const { status, error } = await run.ended;
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank: 1, device: 'cpu:1' });
    expect(error?.message).toMatch(
      new RegExp(`^Rank 1 was killed by SIGKILL\\. Rank 1 \\(cpu:1, pid ${pid}, [a-z-]+, epoch \\d+, step \\d+\\)`),
    );
    expect(runningPids(run)).toEqual([]);
    expect(await readRunRecord(run.folder)).toMatchObject({ status: 'failed', hub: null, error });
    expect((await readMetrics(run.folder)).columns).toContain('val/ens_nll');
    expect((await readCheckpoint(run.folder, 1, 'member-best')).tensors).toHaveLength(4);
    const reasons = (await readEvents(run.folder)).filter(({ kind }) => kind === 'failed');
    expect(reasons.map(({ message }) => message)).toEqual([error?.message]);
  });

  it('by process.exit is reported with its exit code, its position and its last lines', async () => {
    const run = await train(hub(), 'faulty', faulty('exit'));
    const { status, error } = run.record;
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank: 1, device: 'cpu:1' });
    expectPositionBeforeFault(error);
    expect(error?.message).toContain('Rank 1 exited with code 7.');
    expect(error?.message).toContain('Last lines of its log:\n  The licence has expired.');
    expect(runningPids(run)).toEqual([]);
  });
});

describe('a worker that hangs', () => {
  it('by SIGSTOP is reported as the missing rank, and is killed', async () => {
    const timeouts = { collectiveMs: 1000, firstCollectiveMs: 5000, exitMs: 500 };
    const run = await startRun(hub(), 'blobs', { ...endless, timeouts });
    const pid = await pidOnceTraining(run, 1);
    process.kill(pid, 'SIGSTOP');
    const { status, error } = await run.ended;
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank: 1, device: 'cpu:1' });
    expect(error?.message).toContain('timed out after 1000 ms: called by rank 0, never by rank 1.');
    expect(error?.message).toContain(`Rank 1 (cpu:1, pid ${pid}, `);
    expect(runningPids(run)).toEqual([]);
  });

  it('in an endless loop is reported once it has been silent for too long, and is killed', async () => {
    const run = await train(hub(), 'faulty', faulty('loop', { timeouts: { silenceMs: 1500, exitMs: 500 } }));
    expect(run.record).toMatchObject({ status: 'failed', error: { rank: 1 } });
    expectPositionBeforeFault(run.record.error);
    expect(run.record.error?.message).toContain('Rank 1 said nothing for 1500 ms while running.');
    expect(runningPids(run)).toEqual([]);
  });
});

/** The place of an error in the project: `project.ts:45:30`. */
function placeOf(message: string): string {
  const lines = readFileSync(join(projectFolder('faulty'), 'project.ts'), 'utf8').split('\n');
  const index = lines.findIndex((line) => line.includes(`new Error('${message}')`));
  return `project.ts:${index + 1}:${lines[index].indexOf('new Error') + 1}`;
}

describe("a project's own error", () => {
  it.each([
    { fault: 'data', rank: 0, message: 'The sensor archive is empty.' },
    { fault: 'model', rank: 1, message: 'No such layer: "densse".' },
    { fault: 'loss', rank: 1, message: 'The weights of the classes are missing.' },
  ])('in $fault fails the run with that error', async ({ fault, rank, message }) => {
    const run = await train(hub(), 'faulty', faulty(fault));
    expect(run.record).toMatchObject({ status: 'failed', error: { rank, device: `cpu:${rank}`, message } });
    const [event] = (await readEvents(run.folder)).filter(({ rank, kind }) => rank !== null && kind === 'failed');
    expect(event.data.stack).toContain('projects/faulty/project.ts');
    expect(run.record.error?.source).toBe(placeOf(message));
    const lines = (run.record.error?.excerpt ?? '').split('\n');
    const marked = lines.findIndex((line) => line.startsWith('>'));
    expect(lines[marked]).toContain(`new Error('${message}')`);
    expect(lines[marked + 1].indexOf('^')).toBe(lines[marked].indexOf('new Error'));
    const log = readFileSync(join(run.folder, 'logs', `rank-${rank}.log`), 'utf8');
    expect(log).toContain(lines[marked]);
    expect(log).toContain('projects/faulty/project.ts');
    expect(runningPids(run)).toEqual([]);
  });
});

describe('an error that nothing catches', () => {
  it('fails the run with its message and place, and is not restarted', async () => {
    const run = await train(hub(), 'faulty', faulty('timer', { onMemberLoss: { kind: 'restart' } }));
    expect(run.record.error).toMatchObject({ rank: 1, message: 'The sensor does not answer.' });
    expect(run.record.error?.source).toMatch(/^project\.ts:\d+:\d+$/);
    expect(run.record.attempts.map(({ status }) => status)).toEqual(['failed']);
    expect(runningPids(run)).toEqual([]);
  });
});

describe('a worker whose heap is full', () => {
  it('is named as out of memory, with what to do', async () => {
    process.env.NODE_OPTIONS = '--max-old-space-size=64';
    const run = await train(hub(), 'faulty', faulty('heap')).finally(() => delete process.env.NODE_OPTIONS);
    expect(run.record.error).toMatchObject({ rank: 1, device: 'cpu:1' });
    expect(run.record.error?.message).toMatch(/^Rank 1 ran out of memory: JavaScript's heap reached its limit\./);
  });
});

describe('ranks that call different collectives', () => {
  it("all fail, with a message that names each rank's call", async () => {
    const { record } = await train(hub(), 'faulty', faulty('disagree'));
    expect(record.status).toBe('failed');
    expect(record.error?.message).toContain('The ranks disagree: ');
    // The first exchange is that of the SHA-256 of the weights that each rank starts with.
    expect(record.error?.message).toMatch(/rank 0 called all-gather of uint8\[32\], sequence number \d+/);
    expect(record.error?.message).toMatch(/rank 1 called barrier, sequence number \d+/);
  });
});
