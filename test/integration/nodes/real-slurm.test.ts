import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { StudyStore } from '../../../src-main/studies/study-store.ts';
import { homePaths } from '../../../src-main/store/home.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { notRun } from '../../environment/reasons.ts';
import { projectFolder, trainOnce, useHub } from '../harness.ts';
import { trainArguments, tutti, watchProcess } from './launch.ts';
import { startSlurm } from './slurm-cluster.ts';

const cluster = await startSlurm();
const { hub, home } = useHub();
const once = trainOnce();
const noSlurm = typeof cluster === 'string' ? cluster : null;
const variables = typeof cluster === 'string' ? {} : cluster.variables;

afterAll(async () => {
  if (typeof cluster !== 'string') await cluster.end();
});

const hash = (folder: string): string =>
  createHash('sha256')
    .update(readFileSync(join(folder, 'checkpoints', 'rank-0', 'final.safetensors')))
    .digest('hex');

/** Submits by `tutti`. @returns what it printed last */
async function submit(args: string[]): Promise<{ job: string; folder: string }> {
  const task = watchProcess([process.execPath, '--disable-warning=ExperimentalWarning', tutti, ...args], variables);
  expect([await task.ended, task.lines.filter((line) => line.startsWith('error'))]).toEqual([0, []]);
  return JSON.parse(task.lines.at(-1) ?? '');
}

const slurm = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', env: { ...process.env, ...variables } });
const patient = { timeout: 60_000, interval: 200 };

describe.skipIf(noSlurm !== null)(`a real SLURM with two nodes${notRun(noSlurm)}`, () => {
  it('trains a submitted run on both, requeues it at USR1, and resumes it to the bits of one machine', async () => {
    const options = { members: 2, devices: 'cpu:0', 'max-epochs': 150, 'evaluate-every-epochs': 20 };
    const own = { strategy: 'data-parallel', 'checkpoints.state-every-seconds': 0 };
    const folder = join(home(), 'submitted');
    const args = trainArguments('blobs', folder, { ...options, ...own });
    const submittedMs = Date.now();
    const { job } = await submit([...args, '--nodes', '2', '--sbatch', '--time=10']);
    const saved = (): Promise<string[]> => readdir(join(folder, 'state', 'rank-0')).catch(() => []);
    await expect.poll(saved, patient).not.toEqual([]);
    const [limit] = (await readEvents(folder)).filter(({ kind }) => kind === 'time-limit');
    const leftMs = Date.parse(String(limit.data.endsAt)) - submittedMs;
    expect(leftMs).toBeGreaterThan(595_000);
    expect(leftMs).toBeLessThan(660_000);
    expect(limit.data.job).toBe(job);
    // As the controller does it before the time limit, which counts in minutes.
    slurm('scancel', '--signal=USR1', job);
    const status = async (): Promise<unknown> => (await readRunRecord(folder)).attempts.map((one) => one.status);
    await expect.poll(status, patient).toEqual(['stopped', 'finished']);
    const record = await readRunRecord(folder);
    expect(record.plan.map(({ device }) => device.id)).toEqual(['n1/cpu:0', 'n2/cpu:0']);
    await expect.poll(() => slurm('squeue', '--noheader'), patient).toBe('');
    expect(await readdir(homePaths().reachable)).toEqual([]);
    const config = { members: 2, devices: 'cpu:0', maxEpochs: 150, evaluateEveryEpochs: 20 };
    const undisturbed = await once(hub(), 'blobs', { ...config, strategy: { kind: 'data-parallel' } });
    expect(hash(folder)).toBe(hash(undisturbed.folder));
  });

  it('runs an array of jobs whose tasks share the trials of a study, and requeues them at USR1', async () => {
    const { job, folder } = await submit([
      'search',
      projectFolder('blobs'),
      '--search',
      'optimizer.learningRate=log(1e-3,0.1)',
      '--trials',
      '500',
      '--members',
      '1',
      '--max-epochs',
      '2',
      '--set',
      'devices=cpu:0',
      '--array',
      '2',
      '--json',
      '--trust',
    ]);
    /** Tasks that have begun trials. */
    const busy = (): number => {
      const lines = readFileSync(join(folder, 'trials.jsonl'), 'utf8').split('\n');
      return new Set(lines.map((line) => /"type":"begin".*"worker":"([^"]+)"/.exec(line)?.[1])).size - 1;
    };
    await expect.poll(busy, patient).toBe(2);
    expect((await StudyStore.open(folder)).study.parallel).toBe(2);
    slurm('scancel', '--signal=USR1', job);
    const logs = (): string[] => [0, 1].map((task) => readFileSync(join(folder, `slurm-${task}.log`), 'utf8'));
    await expect
      .poll(() => logs().map((text) => text.slice(-900)), patient)
      .toEqual([0, 1].map(() => expect.stringContaining('was requeued')));
    slurm('scancel', job);
    await expect.poll(() => slurm('squeue', '--noheader'), patient).toBe('');
    const { log } = await StudyStore.open(folder);
    // Each number is one trial, whichever task had it.
    expect(log.trials.map(({ number }) => number)).toEqual(log.trials.map((_, index) => index));
    expect(log.trials.length).toBeGreaterThanOrEqual(2);
  });
});
