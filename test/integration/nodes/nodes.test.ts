import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { appendFile, cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { homePaths } from '../../../src-main/store/home.ts';
import { mergedMetrics, projectFolder, trainOnce, useHub } from '../harness.ts';
import { freePort } from './ssh.ts';
import { startTask, torchrun, trainArguments } from './launch.ts';

const { hub, home } = useHub();
const once = trainOnce();

/** SHA-256 of the weights of each rank at the end. */
function weights(folder: string, ranks: number): string[] {
  return Array.from({ length: ranks }, (_, rank) => {
    const file = join(folder, 'checkpoints', `rank-${rank}`, 'final.safetensors');
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  });
}

describe('a launch on two nodes', () => {
  it('by srun trains each strategy to the bits of one machine, and leaves nothing behind', async () => {
    const undisturbed = await once(hub(), 'blobs', {
      members: 3,
      devices: 'cpu:0',
      maxEpochs: 2,
      strategy: { kind: 'joint' },
    });
    const folder = join(home(), 'joint');
    const project = join(home(), 'blobs');
    await cp(projectFolder('blobs'), project, { recursive: true });
    await appendFile(join(project, 'project.ts'), "console.log('The project is loaded.');\n");
    const options = { members: 3, devices: 'cpu:0', 'max-epochs': 2, strategy: 'joint' };
    // Two tasks on the first node, and one on the second.
    const step = {
      SLURM_JOB_ID: '7',
      SLURM_STEP_ID: '0',
      SLURM_STEP_NUM_TASKS: '3',
      SLURM_STEP_TASKS_PER_NODE: '2,1',
      SLURM_STEP_NODELIST: 'n[1-2]',
    };
    const places = [
      [0, 0, 'n1'],
      [1, 0, 'n1'],
      [0, 1, 'n2'],
    ] as const;
    const tasks = places.map(([local, nodeId, name], rank) =>
      startTask(name, { ...step, SLURM_PROCID: `${rank}`, SLURM_LOCALID: `${local}`, SLURM_NODEID: `${nodeId}` }, [
        ...trainArguments('blobs', folder, options).with(1, project),
        '--trust',
      ]),
    );
    expect(await Promise.all(tasks.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    const record = await readRunRecord(folder);
    expect(record.status).toBe('finished');
    expect(record.plan.map(({ device }) => device.id)).toEqual(['n1/cpu:0', 'n1.1/cpu:0', 'n2/cpu:0']);
    expect(weights(folder, 3)).toEqual(weights(undisturbed.folder, 3));
    expect(await mergedMetrics(folder)).toEqual(await mergedMetrics(undisturbed.folder));
    const loads = readFileSync(join(folder, 'devices.csv'), 'utf8');
    for (const { device } of record.plan) expect(loads).toContain(`,${device.id},`);
    for (const { rank, device } of record.plan) {
      const log = readFileSync(join(folder, 'logs', `rank-${rank}.log`), 'utf8');
      expect(log).toContain(`rank ${rank} starts on ${device.id}.`);
      // What a worker prints on its node is in the log that the first task keeps.
      expect(log).toContain('The project is loaded.');
    }
    expect(await readdir(homePaths().launches)).toEqual([]);
  });
});

it('pipelined members whose stages lie on two nodes get the bits of one machine', async () => {
  const size = { members: 4, devices: 'cpu:0', maxEpochs: 1 };
  const undisturbed = await once(hub(), 'blobs', { ...size, strategy: { kind: 'pipeline', stages: 2 } });
  const folder = join(home(), 'pipelined');
  const port = await freePort();
  const options = { members: 4, devices: 'cpu:0', 'max-epochs': 1, strategy: 'pipeline', 'strategy.stages': 2 };
  const tasks = ['n1', 'n2'].map((name, rank) =>
    startTask(name, torchrun(rank, 2, port), trainArguments('blobs', folder, options)),
  );
  expect(await Promise.all(tasks.map(({ ended }) => ended))).toEqual([0, 0]);
  const { plan } = await readRunRecord(folder);
  // Ranks 0 and 2 are the stages of member 0.
  expect(plan.map(({ device }) => device.id)).toEqual(['n1/cpu:0', 'n1/cpu:0', 'n2/cpu:0', 'n2/cpu:0']);
  expect(weights(folder, 2)).toEqual(weights(undisturbed.folder, 2));
  expect(await mergedMetrics(folder)).toEqual(await mergedMetrics(undisturbed.folder));
});

describe('a launch is refused', () => {
  it('where the variables of two launchers contradict each other', async () => {
    const variables = { ...torchrun(0, 2, 1), PMI_RANK: '1', PMI_SIZE: '2' };
    const task = startTask('a', variables, ['train', projectFolder('blobs')]);
    expect(await task.ended).toBe(2);
    expect(task.lines.join('\n')).toContain('those of PMI that it is task 1');
  });
});
