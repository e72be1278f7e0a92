import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { noOpenMpi } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { useHub } from '../harness.ts';
import { trainArguments } from '../nodes/launch.ts';
import { launchTutti, startTutti } from './launch.ts';

const { home } = useHub();
const pipeline = {
  members: 2,
  devices: 'cpu:0',
  strategy: 'pipeline',
  'strategy.micro-batches': 4,
  collectives: 'mpi',
  'on-member-loss': 'stop',
};

describe.skipIf(noOpenMpi !== null)(`a pipeline whose messages go by MPI${notRun(noOpenMpi)}`, () => {
  it('ends, and names the stage, when that is killed while the other one waits for it', async () => {
    const folder = join(home(), 'killed');
    const options = { ...pipeline, 'max-epochs': 5000, 'hidden-units': 20_000, 'timeouts.collective-ms': 4000 };
    const run = startTutti(2, trainArguments('blobs', folder, options));
    await run.until((line) => line.includes('"type":"progress"') && !line.includes('"step":0,'));
    const pid = /"type":"worker","rank":1,.*"pid":(\d+)/.exec(run.lines.join('\n'))?.[1];
    // Stopped first, so that the first stage waits for messages that never come.
    process.kill(Number(pid), 'SIGSTOP');
    await run.until((line) => line.includes('"rank-slow"'));
    process.kill(Number(pid), 'SIGKILL');
    expect(await run.ended).not.toBe(0);
    const { status, error, plan } = await readRunRecord(folder);
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank: 1, device: plan[1].device.id });
    expect(error?.message).toContain('SIGKILL');
  });

  it('ends with the error of a stage that throws between its messages', async () => {
    const folder = join(home(), 'thrown');
    // The last stage computes the loss of member 0.
    const options = { ...pipeline, fault: 'loss', rank: 0, 'hidden-units': 2 };
    const { code } = await launchTutti(2, trainArguments('faulty', folder, options));
    expect(code).not.toBe(0);
    const { status, error } = await readRunRecord(folder);
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank: 1, step: 4, message: 'The weights of the classes are missing.' });
  });
});
