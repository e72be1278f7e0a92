import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { launcherOf, libraryOf } from '../../environment/mpi-releases.ts';
import { type LaunchedTask, tutti, watchProcess } from '../nodes/launch.ts';

export interface Launched {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** What all processes printed. */
  output: string;
}

/** Of Open MPI. Ranks outnumber the cores here, so they must leave them to each other. */
const options = ['--oversubscribe', '--bind-to', 'none', '--mca', 'mpi_yield_when_idle', '1', '-n'];
/** Launchers of MPI, with their arguments before the number of processes. */
const launchers = {
  'Open MPI': ['mpirun', ...options],
  MPICH: ['mpiexec.hydra', '-n'],
  // Its windows through UCX complain where no UCX is.
  'Open MPI 5': [launcherOf('Open MPI 5'), '--mca', 'osc', '^ucx', ...options],
  'MPI-5 ABI': [launcherOf('MPI-5 ABI'), '-n'],
} as const;
export type Launcher = 'Open MPI' | 'MPICH';

/** Newer releases lie where the loader does not look. */
const libraryFor = (launcher: keyof typeof launchers): NodeJS.ProcessEnv =>
  launcher === 'Open MPI 5' || launcher === 'MPI-5 ABI' ? { TUTTI_MPI_LIBRARY: libraryOf(launcher) } : {};

/** Containers run tests as root. */
const asRoot = { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };

/** Runs a script of Node in several processes of MPI on this machine, at most for `limitMs`. */
export async function launch(
  launcher: keyof typeof launchers,
  count: number,
  script: readonly string[],
  limitMs = 60_000,
): Promise<Launched> {
  const [command, ...args] = launchers[launcher];
  const child = spawn(command, [...args, String(count), process.execPath, ...script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...asRoot, ...libraryFor(launcher) },
    timeout: limitMs,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, output };
}

const tuttiCommand = ['--disable-warning=ExperimentalWarning', tutti];

/** Runs `tutti` in several processes of MPI. @param args after `tutti` */
export function launchTutti(
  count: number,
  args: readonly string[],
  launcher: Launcher = 'Open MPI',
): Promise<Launched> {
  return launch(launcher, count, [...tuttiCommand, ...args], 120_000);
}

/** Starts `tutti` in several processes of MPI, and collects what they print. @param args after `tutti` */
export function startTutti(count: number, args: readonly string[], launcher: Launcher = 'Open MPI'): LaunchedTask {
  const [command, ...before] = launchers[launcher];
  return watchProcess([command, ...before, String(count), process.execPath, ...tuttiCommand, ...args], asRoot);
}

/**
 * The same with Open MPI, where each process takes itself for a node: node0, node1.
 * @param setUp shell commands that each of them runs before
 */
export function startOnNodes(count: number, args: readonly string[], setUp: string): LaunchedTask {
  const script = `export TUTTI_NODE=node$OMPI_COMM_WORLD_RANK; ${setUp}; exec "$@"`;
  const command = [process.execPath, ...tuttiCommand, ...args];
  return watchProcess([...launchers['Open MPI'], String(count), 'sh', '-c', script, 'sh', ...command], asRoot);
}
