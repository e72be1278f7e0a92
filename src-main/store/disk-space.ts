import { formatBytes } from '../../core/text/numbers.ts';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { OptimizerConfig, RunConfig } from '../../core/protocol/run/config.ts';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';

const BYTES_PER_PARAMETER = 4;
/** A rank keeps its two newest states, and removes the older one only once the third is complete. */
const STATES_AT_ONCE = 3;
/** Metrics, events, logs, predictions and plots of a run. */
const SMALL_FILES_BYTES = 16 * 1024 ** 2;

/**
 * The maximum disk space of a run, in bytes, with P parameters and M members: `M (C + 3 (1 + S)) W + 16 MiB`, where `W = 4 P` is
 * the size of the weights, `C` the number of checkpoints kept per member, and `S` the optimizer's slots per parameter. A checkpoint
 * and a third state are never written at the same time.
 */
export function forecastRunBytes(run: { parameterCount: number; members: number; config: RunConfig }): number {
  const weightBytes = BYTES_PER_PARAMETER * run.parameterCount;
  const stateBytes = (1 + optimizerSlots(run.config.optimizer)) * weightBytes;
  const memberBytes = checkpointsPerMember(run.config) * weightBytes + STATES_AT_ONCE * stateBytes;
  return run.members * memberBytes + SMALL_FILES_BYTES;
}

function checkpointsPerMember({ checkpoints, maxEpochs }: RunConfig): number {
  const named = [checkpoints.ensembleBest, checkpoints.memberBest, checkpoints.final].filter(Boolean).length;
  return named + (checkpoints.everyEpochs > 0 ? Math.floor(maxEpochs / checkpoints.everyEpochs) : 0);
}

/** Number of values that the optimizer keeps for each parameter. */
function optimizerSlots(optimizer: OptimizerConfig): number {
  if (optimizer.kind === 'sgd') return optimizer.momentum > 0 ? 1 : 0;
  return 2;
}

/** @throws Error if the disk of `folder` (which need not exist yet) has less than `neededBytes` free */
export async function checkDiskSpace(folder: string, neededBytes: number): Promise<void> {
  const freeBytes = await readFreeBytes(resolve(folder));
  if (freeBytes >= neededBytes) return;
  throw new Error(
    `The run may take ${formatBytes(neededBytes)}, but only ${formatBytes(freeBytes)} are free on the disk of ${folder}. ` +
      'Free some space, choose a folder on another disk with --out, or keep fewer checkpoints ' +
      '(checkpoints.everyEpochs, checkpoints.memberBest, checkpoints.final).',
  );
}

/** Free bytes on the disk of `folder`, which need not exist yet. */
export async function readFreeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(folder);
    if (errorCode(error) === 'ENOENT' && parent !== folder) return readFreeBytes(parent);
    throw explainFileError(error, folder, 'find the free space of');
  }
}
