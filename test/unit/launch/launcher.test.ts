import { describe, expect, it } from 'vitest';
import { readTask, tasksOnNode, type Variables } from '../../../core/launch/launcher.ts';

/** As `srun` sets them for the third of four tasks on two nodes. */
const slurm: Variables = {
  SLURM_JOB_ID: '4711',
  SLURM_STEP_ID: '0',
  SLURM_PROCID: '2',
  SLURM_NTASKS: '4',
  SLURM_STEP_NUM_TASKS: '4',
  SLURM_LOCALID: '0',
  SLURM_NODEID: '1',
  SLURM_STEP_TASKS_PER_NODE: '2(x2)',
  SLURM_STEP_NODELIST: 'gpu[07-08]',
  SLURMD_NODENAME: 'gpu08',
};
const openMpi: Variables = {
  OMPI_COMM_WORLD_RANK: '3',
  OMPI_COMM_WORLD_SIZE: '8',
  OMPI_COMM_WORLD_LOCAL_RANK: '1',
  OMPI_COMM_WORLD_LOCAL_SIZE: '2',
  PMIX_NAMESPACE: '3141',
};
const torchrun: Variables = {
  RANK: '5',
  WORLD_SIZE: '8',
  LOCAL_RANK: '1',
  LOCAL_WORLD_SIZE: '4',
  MASTER_ADDR: 'gpu01',
  MASTER_PORT: '29500',
};

describe('the task of a launch', () => {
  it('is none without a launcher, and with a single task', () => {
    expect(readTask({ PATH: '/bin' })).toBeNull();
    expect(readTask({ ...torchrun, RANK: '0', WORLD_SIZE: '1', LOCAL_RANK: '0', LOCAL_WORLD_SIZE: '1' })).toBeNull();
  });

  it('of srun has its node, and another job after a requeue', () => {
    expect(readTask(slurm)).toEqual({
      launcher: 'SLURM',
      worldRank: 2,
      worldSize: 4,
      localRank: 0,
      localSize: 2,
      node: 'gpu08',
      nodes: ['gpu07', 'gpu08'],
      firstHost: 'gpu07',
      job: 'slurm-4711-0-0',
    });
    expect(readTask({ ...slurm, SLURM_RESTART_COUNT: '1' })?.job).toBe('slurm-4711-1-0');
  });

  it('is none in the script of a SLURM job, which has the variables of a task but is no step', () => {
    const { SLURM_STEP_ID: _none, SLURM_STEP_NUM_TASKS: _neither, ...script } = slurm;
    expect(readTask(script)).toBeNull();
  });

  it('of mpirun inside a SLURM job is that of mpirun', () => {
    const daemon = { ...slurm, SLURM_STEP_NUM_TASKS: '2', SLURM_PROCID: '1', SLURM_STEP_TASKS_PER_NODE: '1(x2)' };
    expect(readTask({ ...daemon, ...openMpi })).toMatchObject({
      launcher: 'Open MPI',
      worldRank: 3,
      worldSize: 8,
      localRank: 1,
      localSize: 2,
      node: 'gpu08',
      job: 'mpi-3141',
    });
  });

  it('of torchrun knows the first host', () => {
    expect(readTask(torchrun)).toMatchObject({
      launcher: 'torchrun',
      worldRank: 5,
      localRank: 1,
      localSize: 4,
      firstHost: 'gpu01',
      job: 'torchrun--gpu01-29500-0',
    });
  });

  it('of an MPI with PMI needs no more than rank and size', () => {
    expect(readTask({ PMI_RANK: '1', PMI_SIZE: '2' })).toMatchObject({ launcher: 'PMI', worldRank: 1, localSize: 1 });
  });

  it('may be named by the user, where a launcher gives no name to its job', () => {
    expect(readTask({ PMI_RANK: '1', PMI_SIZE: '2', TUTTI_JOB: 'mine' })?.job).toBe('mine');
  });
});

describe('variables are refused', () => {
  it.each([
    [{ ...torchrun, RANK: '8' }, 'world rank 8 of 8 tasks'],
    [{ ...torchrun, RANK: 'two' }, 'RANK is "two", and must be a whole number'],
    [{ ...openMpi, OMPI_COMM_WORLD_RANK: undefined }, 'OMPI_COMM_WORLD_RANK is not set'],
    [{ ...openMpi, OMPI_COMM_WORLD_LOCAL_RANK: '2' }, 'local rank 2 of 2 tasks on its node'],
    [{ ...torchrun, MASTER_ADDR: undefined }, 'cannot find each other'],
    [{ ...slurm, SLURM_STEP_TASKS_PER_NODE: 'many' }, 'must be like 2(x3),1'],
    [{ ...openMpi, ...torchrun }, 'task 3 of 8, those of torchrun that it is task 5'],
  ])('%o', (variables, message) => expect(() => readTask(variables)).toThrow(message));
});

it('tasks of a node are read from SLURM’s compressed counts', () => {
  expect([0, 1, 2, 3, 4].map((node) => tasksOnNode('2(x3),1,4', node))).toEqual([2, 2, 2, 1, 4]);
});
