import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Peer, peersFolder } from '../compute/steppers.ts';
import { type Durations, parseDurations, runRank } from './hub-group.ts';

const script = join(import.meta.dirname, 'mpi-rank.ts');
/**
 * Ranks may outnumber the cores, and leave them to each other while they wait. As root, in a container, Open MPI wants
 * to be asked twice.
 */
const options = ['--oversubscribe', '--bind-to', 'none', '--allow-run-as-root', '--mca', 'mpi_yield_when_idle', '1'];

/** All cases over Open MPI on this machine. */
export async function measureMpi(worldSize: number): Promise<Durations> {
  return await measure(worldSize, [process.execPath, '--disable-warning=ExperimentalWarning', script]);
}

/** The same cases with mpi4py. */
export async function measureMpi4py({ python }: Peer, worldSize: number): Promise<Durations> {
  return await measure(worldSize, [python, join(peersFolder, 'mpi_collectives.py')]);
}

async function measure(worldSize: number, command: readonly string[]): Promise<Durations> {
  return parseDurations(await runRank('mpirun', [...options, '-n', String(worldSize), ...command]));
}

/** The Python of `TUTTI_PYTHON`, by default `python3`, if it has mpi4py with Open MPI; else null. */
export function findMpi4py(): Peer | null {
  const python = process.env.TUTTI_PYTHON ?? 'python3';
  const program =
    'import numpy, mpi4py; from mpi4py import MPI; assert MPI.get_vendor()[0] == "Open MPI"; print(mpi4py.__version__)';
  const { status, stdout } = spawnSync(python, ['-c', program], { encoding: 'utf8' });
  return status === 0 ? { python, version: stdout.trim() } : null;
}
