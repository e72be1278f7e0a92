import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { trainOnce, useHub } from '../harness.ts';
import { startTask, trainArguments, tutti, watchProcess } from './launch.ts';
import { standInForSlurm } from './stand-in-slurm.ts';

const { hub, home } = useHub();
const once = trainOnce();

const hash = (folder: string): string =>
  createHash('sha256')
    .update(readFileSync(join(folder, 'checkpoints', 'rank-0', 'final.safetensors')))
    .digest('hex');

it('a submitted run stops and is requeued when its time limit is near, and its job then resumes it to the same bits', async () => {
  const config = {
    members: 2,
    devices: 'cpu:0',
    maxEpochs: 160,
    evaluateEveryEpochs: 20,
    strategy: { kind: 'data-parallel' as const },
    checkpoints: { stateEverySeconds: 0 },
  };
  const options = {
    members: 2,
    devices: 'cpu:0',
    'max-epochs': 160,
    'evaluate-every-epochs': 20,
    strategy: 'data-parallel',
    'checkpoints.state-every-seconds': 0,
  };
  const slurm = join(home(), 'slurm');
  const variables = await standInForSlurm(slurm, 2);
  const folder = join(home(), 'submitted');
  const submit = startTask('login', variables, [
    ...trainArguments('blobs', folder, options),
    '--nodes',
    '1:2',
    '--sbatch',
    '--time=1:00:00 --partition=gpu',
  ]);
  expect(await submit.ended).toBe(0);
  expect(JSON.parse(submit.lines.at(-1) ?? '')).toEqual({ type: 'submitted', job: '4711', folder });
  const script = readFileSync(join(slurm, 'script.sh'), 'utf8');
  expect(script).toContain(
    '#SBATCH --nodes=1-2\n#SBATCH --ntasks-per-node=1\n#SBATCH --signal=USR1@120\n#SBATCH --requeue\n',
  );
  expect(script).toContain('#SBATCH --time=1:00:00\n#SBATCH --partition=gpu\n');
  expect(script).toContain(`${tutti} train `);

  const job = { ...variables, SLURM_JOB_ID: '4711', SLURM_JOB_END_TIME: '1800000000' };
  const first = watchProcess(['bash', join(slurm, 'script.sh')], job);
  await first.until((line) => line.includes('"type":"checkpoint"'));
  first.child.kill('SIGUSR1');
  await first.ended;
  expect((await readRunRecord(folder)).status).toBe('stopped');
  expect(readFileSync(join(slurm, 'scontrol.txt'), 'utf8')).toBe('requeue 4711\n');
  const limit = (await readEvents(folder)).find(({ kind }) => kind === 'time-limit');
  expect(limit?.message).toContain("SLURM's job 4711 may train until 2027-01-15T08:00:00.000Z");

  const second = watchProcess(['bash', join(slurm, 'script.sh')], { ...job, SLURM_RESTART_COUNT: '1' });
  expect(await second.ended).toBe(0);
  const record = await readRunRecord(folder);
  expect(record).toMatchObject({ status: 'finished', attempts: [{ status: 'stopped' }, { status: 'finished' }] });
  expect(record.plan.map(({ device }) => device.id)).toEqual(['n0/cpu:0', 'n1/cpu:0']);
  expect(hash(folder)).toBe(hash((await once(hub(), 'blobs', config)).folder));
});
