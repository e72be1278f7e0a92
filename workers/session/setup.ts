import type { Blas } from '../../core/protocol/machine/blas.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { type Backend, startBackend } from '../backends/backend.ts';
import { DistributedSeeder } from '../callbacks/distributed-seeder.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import { useInitializers } from '../tensorflow/layers/initializers.ts';

export interface IndependentWorker {
  rank: number;
  worldSize: number;
  backend: Backend;
  /** Holds this rank's generator; a trainer takes it as a callback, so that its state is saved with the rest. */
  seeder: DistributedSeeder;
}

/**
 * Prepares this process for one member of an ensemble: starts the backend and seeds everything random with `seed + rank` (or the seed
 * itself, with `identicalSeeds`), so that members diverge. Nothing is synchronised; the group's collectives are at hand.
 * @param blas the system's BLAS that matrix products use; null: own kernels
 */
export async function setupIndependentWorker(
  group: ProcessGroup,
  config: Pick<RunConfig, 'seed' | 'identicalSeeds' | 'backend' | 'determinism'> &
    Partial<Pick<RunConfig, 'initializers'>>,
  blas: Blas | null = null,
): Promise<IndependentWorker> {
  const backend = await startBackend(config.backend, { blas, determinism: config.determinism });
  useInitializers(config.initializers ?? 'corrected');
  const seeder = new DistributedSeeder({ baseSeed: config.seed, rank: group.rank, unique: !config.identicalSeeds });
  return { rank: group.rank, worldSize: group.worldSize, backend, seeder };
}
