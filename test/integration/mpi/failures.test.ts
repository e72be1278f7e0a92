import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findResumePoint } from '../../../src-main/store/runs/resume-point.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { noMpich, noOpenMpi } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { isRunning, resume, useHub } from '../harness.ts';
import { type LaunchedTask, processesOf, trainArguments } from '../nodes/launch.ts';
import { type Launcher, startTutti } from './launch.ts';

const { hub, home } = useHub();

interface Absence {
  run: LaunchedTask;
  folder: string;
  /** Of the launcher and all that it has started. */
  pids: number[];
  /** Lets the absent rank come to the exchange. */
  come: () => Promise<void>;
}

let absences = 0;

/** Trains until rank 0 waits inside an exchange of large arrays, at step 4, to which rank 1 has not come. */
async function trainUntilAbsence(fault: 'absent' | 'absent-loss', launcher: Launcher, members = 2): Promise<Absence> {
  const folder = join(home(), `absence-${(absences += 1)}`);
  const file = join(folder, 'come');
  const flags = { members, devices: 'cpu:0', strategy: 'data-parallel', collectives: 'mpi', 'on-member-loss': 'stop' };
  const large = { 'max-epochs': 100_000, 'batch-size': 15, 'hidden-units': 20_000 };
  const options = { ...flags, ...large, fault, 'at-step': 4, 'comes-with': file };
  const run = startTutti(members, trainArguments('faulty', folder, options), launcher);
  const log = join(folder, 'logs', 'rank-0.log');
  await expect.poll(() => existsSync(log) && readFileSync(log, 'utf8')).toContain('The rank waits in an exchange.');
  return { run, folder, pids: processesOf(run), come: () => writeFile(file, '') };
}

const pidOf = ({ lines }: LaunchedTask, rank: number): number =>
  Number(new RegExp(`"type":"worker","rank":${rank},.*"pid":(\\d+)`).exec(lines.join('\n'))?.[1]);

const lastStepOf = ({ lines }: LaunchedTask, rank: number): number =>
  Number(new RegExp(`"type":"worker","rank":${rank},"state":"exited",.*"step":(\\d+)`).exec(lines.join('\n'))?.[1]);

describe.skipIf(noOpenMpi !== null)(`while a rank waits inside a collective of Open MPI${notRun(noOpenMpi)}`, () => {
  it('the other is killed: the run names it with its node, and leaves no process behind', async () => {
    const { run, folder, pids } = await trainUntilAbsence('absent', 'Open MPI');
    process.kill(pidOf(run, 1), 'SIGKILL');
    expect(await run.ended).not.toBe(0);
    const { status, error, plan } = await readRunRecord(folder);
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank: 1, device: plan[1].device.id });
    expect(error?.message).toContain('SIGKILL');
    expect(plan[1].device.node?.task).toBe(1);
    expect(pids.filter(isRunning)).toEqual([]);
    const messages = (await readEvents(folder)).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringMatching(/^Arrays go by MPI: Open MPI/));
  });

  it("another's project throws: the run names rank, device, epoch and step, and leaves no process behind", async () => {
    const { run, folder, pids, come } = await trainUntilAbsence('absent-loss', 'Open MPI', 3);
    await come();
    expect(await run.ended).not.toBe(0);
    const { status, error, plan } = await readRunRecord(folder);
    expect(status).toBe('failed');
    const place = { rank: 1, device: plan[1].device.id, epoch: 1, step: 4 };
    expect(error).toMatchObject({ ...place, message: 'The weights of the classes are missing.' });
    expect(pids.filter(isRunning)).toEqual([]);
  });
});

describe.each([
  { launcher: 'Open MPI', by: '`tutti stop`', codes: [3], obstacle: noOpenMpi },
  // `mpiexec` of MPICH 4.0 may forget the codes of processes to which it has passed a signal on (pmodels/mpich 5930).
  { launcher: 'MPICH', by: 'Ctrl-C', codes: [130, 0], obstacle: noMpich },
] as const)('a run under $launcher', ({ launcher, by, codes, obstacle }) => {
  it.skipIf(obstacle !== null)(
    `that is stopped by ${by} within an exchange ends with all ranks at one step, and is resumed on one machine${notRun(obstacle)}`,
    async () => {
      const { run, folder, pids, come } = await trainUntilAbsence('absent', launcher);
      if (by === 'Ctrl-C') run.child.kill('SIGINT');
      else await hub().control(folder, { action: 'stop' });
      await come();
      expect(codes, run.lines.join('\n')).toContain(await run.ended);
      expect((await readRunRecord(folder)).status).toBe('stopped');
      const steps = [0, 1].map((rank) => lastStepOf(run, rank));
      expect(steps[1]).toBe(steps[0]);
      expect(await findResumePoint(folder, [0, 1])).toMatchObject({ step: steps[0], damages: [] });
      expect(pids.filter(isRunning)).toEqual([]);
      // Without a launcher.
      expect((await resume(hub(), folder, { maxEpochs: 3 })).status).toBe('finished');
    },
  );
});
