import { describe, expect, it } from 'vitest';
import { mpiOfLauncher, whyNotOfLauncher } from '../../../core/launch/launcher.ts';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { chooseMpi, enterMpi, type MpiOffer } from '../../../src-main/runs/attempt/choose-mpi.ts';

const device = {
  kind: 'cpu',
  index: 0,
  name: 'a core',
  memoryTotalBytes: null,
  memoryUsedBytes: null,
  load: null,
  processCount: null,
} as const;
/** Ranks on nodes: a letter each; each is a task. */
const ranksOn = (nodes: string): Placement[] =>
  nodes.split('').map((name, task) => ({
    rank: task,
    wave: 0,
    device: { ...device, id: `${name}${task}`, node: { name, task } },
  }));

const joint: RunConfigInput = { strategy: { kind: 'joint' } };
const whole: MpiOffer = { processes: 2, obstacle: null };
const choose = (input: RunConfigInput, nodes: string, offer: MpiOffer | null = whole, mayUseNetwork = true) => {
  const wave = ranksOn(nodes);
  const config = runConfigSchema.parse({ members: wave.length, ...input });
  return chooseMpi({ config, plan: wave }, wave, offer, () => mayUseNetwork);
};
const no = { isChosen: false, reason: null };

describe('auto', () => {
  it('chooses MPI for coupled ranks, one in each task, on several nodes', () => {
    expect(choose(joint, 'ab')).toEqual({ isChosen: true, reason: null });
    expect(choose(joint, 'aab', { processes: 3, obstacle: null })).toEqual({ isChosen: true, reason: null });
    const broadcast: RunConfigInput = { data: { mode: 'broadcast' } };
    expect(choose(broadcast, 'ab')).toEqual({ isChosen: true, reason: null });
  });

  it.each<[string, RunConfigInput, string, MpiOffer | null]>([
    ['on one node, where memory is faster', joint, 'aa', whole],
    ['for independent members', {}, 'ab', whole],
    ['for members that may be lost', { ...joint, onMemberLoss: { kind: 'continue' } }, 'ab', whole],
    ['for several members in a worker', { ...joint, membersPerDevice: 2 }, 'ab', whole],
    ['without a launcher of MPI, or with nodes that come and go', joint, 'ab', null],
    ['where a task has no rank', joint, 'ab', { processes: 3, obstacle: null }],
  ])('does not, %s', (_, config, nodes, offer) => {
    expect(choose(config, nodes, offer)).toEqual(no);
  });

  it('does not for several ranks in a task, or a part of the members', () => {
    const config = runConfigSchema.parse({ ...joint, members: 2 });
    const wave = ranksOn('ab');
    const [first, second] = wave;
    const shared = [first, { ...second, device: { ...second.device, node: { name: 'b', task: 0 } } }];
    expect(chooseMpi({ config, plan: shared }, shared, whole, () => true)).toEqual(no);
    expect(chooseMpi({ config, plan: ranksOn('abc') }, wave, whole, () => true)).toEqual(no);
  });

  it('says why the arrays go through the hub if a task has no library, or the project may not use the network', () => {
    const obstacle = 'on b, task 1: it cannot use MPI: No MPI library can be used';
    expect(choose(joint, 'ab', { processes: 2, obstacle }).reason).toBe(
      `Arrays go through the hub, although a launcher of MPI has started the tasks: ${obstacle}.`,
    );
    expect(choose(joint, 'ab', whole, false).reason).toContain(
      'MPI needs the network, which the project may not use; --collectives mpi lets',
    );
    expect(choose({ ...joint, strategy: { kind: 'independent' } }, 'ab', whole, false)).toEqual(no);
  });
});

it('mpi is MPI for more than one rank, and hub never is', () => {
  expect(choose({ collectives: 'mpi' }, 'aa', null, false).isChosen).toBe(true);
  expect(choose({ collectives: 'mpi' }, 'a', null, false).isChosen).toBe(false);
  expect(choose({ ...joint, collectives: 'hub' }, 'ab')).toEqual(no);
});

describe('a job of MPI', () => {
  const enter = (attempts: number, tasks: { enterMpi(): boolean } | null, isChosen = true) => {
    const told: string[] = [];
    const recorder = {
      record: { attempts: Array.from({ length: attempts }, (_, i) => i) },
      event: (_rank: null, _kind: string, message: string) => void told.push(message),
    };
    return [enterMpi({ isChosen, reason: null }, ranksOn('ab'), tasks, recorder), ...told];
  };

  it('is entered once', () => {
    expect(enter(1, { enterMpi: () => true })).toEqual([2]);
    expect(enter(2, { enterMpi: () => true })).toEqual([2]);
    const told = 'Arrays go through the hub: an earlier attempt or run has entered the job of MPI.';
    expect(enter(2, { enterMpi: () => false })).toEqual([null, told]);
  });

  it('is not entered by a run that is resumed without a launcher', () => {
    expect(enter(2, null)).toEqual([null, 'Arrays go as on one machine: no launcher has started this attempt.']);
    expect(enter(2, null, false)).toEqual([null]);
    // The library says what is wrong.
    expect(enter(1, null)).toEqual([2]);
  });
});

describe('a launcher of MPI', () => {
  it('is known by what its library needs to find it', () => {
    expect(mpiOfLauncher({ PMIX_RANK: '0', PMIX_NAMESPACE: '3141' })).toBe('Open MPI');
    expect(mpiOfLauncher({ PMI_RANK: '0', PMI_FD: '6', MPI_LOCALNRANKS: '2' })).toBe('MPICH');
    // srun without the plug-in of an MPI, torchrun, and variables of Open MPI that somebody set by hand.
    expect(mpiOfLauncher({ SLURM_PROCID: '0', PMI_FD: '6', PMI_RANK: '0' })).toBeNull();
    expect(mpiOfLauncher({ RANK: '0', WORLD_SIZE: '2' })).toBeNull();
    expect(mpiOfLauncher({ OMPI_COMM_WORLD_RANK: '0', OMPI_COMM_WORLD_SIZE: '2' })).toBeNull();
  });

  it('needs its own library', () => {
    const found = (library: string) => ({ kind: 'found', library }) as const;
    expect(whyNotOfLauncher('Open MPI', found('Open MPI v4.1.4'))).toBeNull();
    expect(whyNotOfLauncher('MPICH', found('MPICH 4.0.2'))).toBeNull();
    expect(whyNotOfLauncher('MPICH', found('Open MPI v4.1.4'))).toBe(
      'its library is Open MPI v4.1.4, and its launcher that of MPICH',
    );
    expect(whyNotOfLauncher('Open MPI', { kind: 'failed', reason: 'No MPI library can be used.' })).toBe(
      'it cannot use MPI: No MPI library can be used',
    );
  });
});
