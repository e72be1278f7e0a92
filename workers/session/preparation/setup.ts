import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { type Backend, startBackend } from '../../backends/backend.ts';
import type { BackendOptions } from '../../backends/contract.ts';
import { DistributedSeeder } from '../../callbacks/distributed-seeder.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import { useInitializers } from '../../tensorflow/layers/initializers.ts';

let started: { key: string; backend: Backend } | null = null;

/** A process that trains several runs starts its backend for the first one. */
async function startOnce(
  { backend, determinism }: Pick<RunConfig, 'backend' | 'determinism'>,
  options: Pick<BackendOptions, 'blas' | 'threads'>,
) {
  const key = JSON.stringify([backend, determinism, options]);
  if (started?.key !== key) started = { key, backend: await startBackend(backend, { ...options, determinism }) };
  return started.backend;
}

/** What `setupIndependentWorker` returns. */
export interface IndependentWorker {
  /** This process's rank. */
  rank: number;
  /** Number of ranks in the group. */
  worldSize: number;
  /** The backend that was started. */
  backend: Backend;
  /** Holds this rank's generator. Pass it to a trainer as a callback, which saves its state. */
  seeder: DistributedSeeder;
}

/**
 * Prepares this process for one member of an ensemble: starts the backend and seeds all random numbers with
 * `seed + rank` (with `identicalSeeds`: with `seed`), so that members diverge. It synchronises nothing; use the group's
 * collectives for that.
 *
 * @param options - the system's BLAS for matrix products (null or absent: Tutti's kernels), and the process's threads
 */
export async function setupIndependentWorker(
  group: ProcessGroup,
  config: Pick<RunConfig, 'seed' | 'identicalSeeds' | 'backend' | 'determinism'> &
    Partial<Pick<RunConfig, 'initializers'>>,
  options: Pick<BackendOptions, 'blas' | 'threads'> = {},
): Promise<IndependentWorker> {
  const backend = await startOnce(config, options);
  useInitializers(config.initializers ?? 'corrected');
  const seeder = new DistributedSeeder({ baseSeed: config.seed, rank: group.rank, unique: !config.identicalSeeds });
  return { rank: group.rank, worldSize: group.worldSize, backend, seeder };
}
