import { z } from 'zod';

/**
 * The hosts of SLURM's compressed list, in its order: `node[01-03,7],login` gives node01, node02, node03, node7, login.
 * A name may have several brackets: `rack[1-2]n[0-1]`.
 * @throws Error that names the list, if a bracket does not close or a range is none
 */
export function expandHostList(list: string): string[] {
  return splitOutsideBrackets(list).flatMap((part) => expandName(part, list));
}

function splitOutsideBrackets(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= list.length; i += 1) {
    if (list[i] === '[') depth += 1;
    if (list[i] === ']') depth -= 1;
    if (depth < 0 || depth > 1 || (i === list.length && depth !== 0)) throw malformed(list);
    if (i < list.length && (list[i] !== ',' || depth > 0)) continue;
    parts.push(list.slice(start, i).trim());
    start = i + 1;
  }
  return parts.filter((part) => part !== '');
}

function expandName(name: string, list: string): string[] {
  const open = name.indexOf('[');
  if (open === -1) return [name];
  const close = name.indexOf(']', open);
  const endings = expandName(name.slice(close + 1), list);
  const numbers = name
    .slice(open + 1, close)
    .split(',')
    .flatMap((range) => expandRange(range, list));
  return numbers.flatMap((number) => endings.map((ending) => `${name.slice(0, open)}${number}${ending}`));
}

/** More hosts than any cluster has come from a list that was damaged. */
const mostHosts = 100_000;

/** `08-11` keeps its leading zeros. */
function expandRange(range: string, list: string): string[] {
  const found = /^(\d+)(?:-(\d+))?$/.exec(range);
  if (found === null) throw malformed(list);
  const [, first, last = first] = found;
  const count = Number(last) - Number(first) + 1;
  if (count < 1 || count > mostHosts) throw malformed(list);
  return Array.from({ length: count }, (_, i) => String(Number(first) + i).padStart(first.length, '0'));
}

function malformed(list: string): Error {
  return new Error(`"${list}" is not a list of hosts as SLURM writes it: node[01-04,7],login.`);
}

/** Variables of a process, as `process.env` has them. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** One of the processes that a launcher started together (a task of SLURM, a rank of MPI or torchrun). */
export interface Task {
  launcher: LauncherName;
  /** Its number among all tasks (world rank), and their number (world size). */
  worldRank: number;
  worldSize: number;
  /** The same among the tasks of its node. */
  localRank: number;
  localSize: number;
  /** The node's name where the launcher tells it. */
  node: string | null;
  /** Nodes of the job, where the launcher lists them. */
  nodes: string[];
  /** The host of the task with world rank 0, where it is known. */
  firstHost: string | null;
  /**
   * Names this start of the job: the same for all its tasks, and another one after a requeue. `TUTTI_JOB` replaces it.
   */
  job: string;
}

type LauncherName = 'Open MPI' | 'torchrun' | 'SLURM' | 'PMI';

/**
 * Readers in the order in which they count: `mpirun` inside a SLURM job leaves SLURM's variables of its own daemons.
 */
const readers: readonly ((env: Variables) => Task | null)[] = [readOpenMpi, readTorchrun, readSlurm, readPmi];

/**
 * The task that this process is, from the variables of `srun`, `mpirun` (Open MPI), `mpiexec` (MPICH and others with
 * PMI) or torchrun; null where it was started alone.
 * @throws Error if variables are missing, are no numbers, or contradict each other
 */
export function readTask(env: Variables): Task | null {
  const tasks = readers.flatMap((read) => read(env) ?? []);
  const [first, ...others] = tasks;
  if (first === undefined) return null;
  // Launchers inside each other have different sizes (one daemon a node). With the same size they must mean the same
  // task.
  const other = others.find(
    ({ worldSize, worldRank }) => worldSize === first.worldSize && worldRank !== first.worldRank,
  );
  if (other !== undefined && first.worldSize > 1) {
    throw new Error(
      `The variables of ${first.launcher} say that this is task ${first.worldRank} of ${first.worldSize}, those of ` +
        `${other.launcher} that it is task ${other.worldRank}. Start Tutti by one launcher, or unset the variables ` +
        'of the other.',
    );
  }
  return first.worldSize > 1 ? { ...first, job: env.TUTTI_JOB ?? first.job } : null;
}

function readOpenMpi(env: Variables): Task | null {
  if (env.OMPI_COMM_WORLD_SIZE === undefined) return null;
  const read = numbersOf(env, 'Open MPI');
  return check({
    launcher: 'Open MPI',
    worldRank: read('OMPI_COMM_WORLD_RANK'),
    worldSize: read('OMPI_COMM_WORLD_SIZE'),
    localRank: read('OMPI_COMM_WORLD_LOCAL_RANK'),
    localSize: read('OMPI_COMM_WORLD_LOCAL_SIZE'),
    ...unnamed(env),
    job: `mpi-${env.PMIX_NAMESPACE ?? env.OMPI_MCA_ess_base_jobid ?? env.OMPI_MCA_orte_ess_jobid ?? slurmJob(env)}`,
  });
}

function readTorchrun(env: Variables): Task | null {
  if (env.RANK === undefined || env.WORLD_SIZE === undefined) return null;
  const read = numbersOf(env, 'torchrun');
  const worldRank = read('RANK');
  if (env.MASTER_ADDR === undefined || env.MASTER_PORT === undefined) {
    throw new Error(
      'RANK and WORLD_SIZE are set without MASTER_ADDR and MASTER_PORT, so the tasks cannot find each other. ' +
        'Set all four, or unset RANK.',
    );
  }
  const restart = env.TORCHELASTIC_RESTART_COUNT ?? '0';
  return check({
    launcher: 'torchrun',
    worldRank,
    worldSize: read('WORLD_SIZE'),
    localRank: env.LOCAL_RANK === undefined ? 0 : read('LOCAL_RANK'),
    localSize: env.LOCAL_WORLD_SIZE === undefined ? 1 : read('LOCAL_WORLD_SIZE'),
    ...unnamed(env),
    firstHost: env.MASTER_ADDR,
    job: `torchrun-${env.TORCHELASTIC_RUN_ID ?? ''}-${env.MASTER_ADDR}-${env.MASTER_PORT}-${restart}`,
  });
}

/** Only inside a step: the script of a job also has the number of tasks, but is one process. */
function readSlurm(env: Variables): Task | null {
  if (env.SLURM_PROCID === undefined || env.SLURM_STEP_ID === undefined) return null;
  const read = numbersOf(env, 'SLURM');
  const nodes = expandHostList(env.SLURM_STEP_NODELIST ?? env.SLURM_JOB_NODELIST ?? env.SLURM_NODELIST ?? '');
  const node = read('SLURM_NODEID');
  return check({
    launcher: 'SLURM',
    worldRank: read('SLURM_PROCID'),
    worldSize: read(env.SLURM_STEP_NUM_TASKS === undefined ? 'SLURM_NTASKS' : 'SLURM_STEP_NUM_TASKS'),
    localRank: read('SLURM_LOCALID'),
    localSize: tasksOnNode(env.SLURM_STEP_TASKS_PER_NODE ?? env.SLURM_TASKS_PER_NODE ?? '1', node),
    node: env.SLURMD_NODENAME ?? nodes.at(node) ?? null,
    nodes,
    firstHost: nodes.at(0) ?? null,
    job: `${slurmJob(env)}-${env.SLURM_STEP_ID}`,
  });
}

function readPmi(env: Variables): Task | null {
  if (env.PMI_RANK === undefined || env.PMI_SIZE === undefined) return null;
  const read = numbersOf(env, 'PMI');
  return check({
    launcher: 'PMI',
    worldRank: read('PMI_RANK'),
    worldSize: read('PMI_SIZE'),
    localRank: env.MPI_LOCALRANKID === undefined ? 0 : read('MPI_LOCALRANKID'),
    localSize: env.MPI_LOCALNRANKS === undefined ? 1 : read('MPI_LOCALNRANKS'),
    ...unnamed(env),
    job: `pmi-${env.PMI_JOBID ?? slurmJob(env)}`,
  });
}

/** What launchers other than SLURM leave to it, where they run inside its job. */
function unnamed(env: Variables): Pick<Task, 'node' | 'nodes' | 'firstHost'> {
  const nodes = expandHostList(env.SLURM_JOB_NODELIST ?? '');
  return { node: env.SLURMD_NODENAME ?? null, nodes, firstHost: env.MASTER_ADDR ?? nodes.at(0) ?? null };
}

/** A requeued job keeps its number. */
function slurmJob(env: Variables): string {
  return `slurm-${env.SLURM_JOB_ID ?? 'none'}-${env.SLURM_RESTART_COUNT ?? '0'}`;
}

/** SLURM's `2(x3),1`: two tasks on each of the first three nodes, one on the fourth. @param node counts from 0 */
export function tasksOnNode(perNode: string, node: number): number {
  const counts = perNode.split(',').flatMap((part) => {
    const found = /^(\d+)(?:\(x(\d+)\))?$/.exec(part.trim());
    if (found === null) throw new Error(`SLURM_TASKS_PER_NODE is "${perNode}", and must be like 2(x3),1.`);
    return Array.from({ length: Number(found[2] ?? 1) }, () => Number(found[1]));
  });
  return counts.at(node) ?? counts.at(-1) ?? 1;
}

function numbersOf(env: Variables, launcher: LauncherName): (name: string) => number {
  return (name) => {
    const text = env[name];
    if (text !== undefined && /^\d{1,9}$/.test(text)) return Number(text);
    const found = text === undefined ? 'is not set' : `is "${text}"`;
    throw new Error(
      `${name} ${found}, and must be a whole number. ${launcher} sets it; start Tutti by a launcher, or ` +
        'without any of its variables.',
    );
  };
}

function check(task: Task): Task {
  const { launcher, worldRank, worldSize, localRank, localSize } = task;
  const wrong =
    worldRank >= worldSize
      ? `world rank ${worldRank} of ${worldSize} tasks`
      : localRank >= localSize
        ? `local rank ${localRank} of ${localSize} tasks on its node`
        : localSize > worldSize
          ? `${localSize} tasks on one node of ${worldSize} in all`
          : null;
  if (wrong === null) return task;
  throw new Error(`The variables of ${launcher} contradict each other: ${wrong}. Ranks count from 0. Correct them.`);
}

/**
 * The MPI whose launcher has started this process, as the library that it enters MPI with must find it: by PMIx (Open
 * MPI), or by the descriptor of hydra (MPICH and its relatives). Null where no launcher of MPI has.
 */
export function mpiOfLauncher(env: Variables): 'Open MPI' | 'MPICH' | null {
  if (env.PMIX_RANK !== undefined && env.PMIX_NAMESPACE !== undefined) return 'Open MPI';
  const isOfHydra = env.PMI_FD !== undefined && env.MPI_LOCALNRANKS !== undefined;
  return isOfHydra && env.PMI_RANK !== undefined ? 'MPICH' : null;
}

/** What `workers/entries/probe-mpi.ts` answers. */
export const mpiReplySchema = z.discriminatedUnion('kind', [
  /** Name and version of the library: `Open MPI v4.1.4`. */
  z.strictObject({ kind: z.literal('found'), library: z.string() }),
  z.strictObject({ kind: z.literal('failed'), reason: z.string() }),
]);
export type MpiReply = z.output<typeof mpiReplySchema>;

/**
 * Why a process cannot enter the MPI of its launcher with the library that it finds; the end of a sentence. Null if it
 * can.
 */
export function whyNotOfLauncher(mpi: 'Open MPI' | 'MPICH', reply: MpiReply): string | null {
  if (reply.kind === 'failed') return `it cannot use MPI: ${reply.reason.replace(/\.$/, '')}`;
  const isOpenMpi = reply.library.startsWith('Open MPI');
  return isOpenMpi === (mpi === 'Open MPI') ? null : `its library is ${reply.library}, and its launcher that of ${mpi}`;
}
