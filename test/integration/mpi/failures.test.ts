import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { noOpenMpi } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { useHub } from '../harness.ts';
import { trainArguments } from '../nodes/launch.ts';
import { startTutti } from './launch.ts';

const { home } = useHub();

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

it.skipIf(noOpenMpi !== null)(
  `a rank that is killed between collectives of MPI is named with its node, and leaves no process behind${notRun(noOpenMpi)}`,
  async () => {
    const folder = join(home(), 'killed');
    const options = {
      members: 2,
      devices: 'cpu:0',
      'max-epochs': 5000,
      strategy: 'data-parallel',
      'hidden-units': 20_000,
    };
    const run = startTutti(
      2,
      trainArguments('blobs', folder, { ...options, collectives: 'mpi', 'on-member-loss': 'stop' }),
    );
    const pidOf = (rank: number): number =>
      Number(new RegExp(`"type":"worker","rank":${rank},.*"pid":(\\d+)`).exec(run.lines.join('\n'))?.[1]);
    await run.until((line) => line.includes('"type":"progress"') && !line.includes('"step":0,'));
    const pids = [pidOf(0), pidOf(1)];
    process.kill(pids[1], 'SIGKILL');
    expect(await run.ended).not.toBe(0);
    const { status, error, plan } = await readRunRecord(folder);
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank: 1, device: plan[1].device.id });
    expect(error?.message).toContain('SIGKILL');
    expect(plan[1].device.node?.task).toBe(1);
    expect(pids.map(isGone)).toEqual([true, true]);
    const messages = (await readEvents(folder)).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringMatching(/^Arrays go by MPI: Open MPI/));
  },
);
