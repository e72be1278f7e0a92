import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Device } from '../../core/protocol/machine/devices.ts';
import type { EnsembleSource } from '../../core/protocol/run/checkpoint-tasks.ts';
import { isUsable } from '../backends/choose-blas.ts';
import { sourceOfRun } from '../runs/configuration/run-source.ts';
import { readRunRecord } from '../store/runs/run-folder.ts';
import { whyNotTrusted } from '../trust/project-trust.ts';

/** What a process that opens an ensemble is told, and what it is granted. */
export interface SourceToOpen {
  task: EnsembleSource;
  /** The project whose code the process may run; null: none. */
  project: string | null;
  /** The device of the run's first rank; absent for an exported ensemble. */
  device?: Device | undefined;
}

/**
 * @param folder a run's folder, or one with an exported ensemble
 * @param set the checkpoints' name; by default the usual ones
 */
export async function ensembleSource(folder: string, set: string | null = null): Promise<SourceToOpen> {
  const record = existsSync(join(folder, 'ensemble.json')) ? null : await readRunRecord(folder);
  const refusal = record === null ? null : whyNotTrusted(record.project.folder);
  const blas = record?.blas ?? null;
  return {
    task: {
      folder,
      set,
      // Most predictions need nothing of the project: the run saved its models.
      source: record === null ? null : await sourceOfRun(folder, record, refusal),
      blas: blas !== null && (await isUsable(blas)) ? blas : null,
    },
    project: record === null || refusal !== null ? null : record.project.folder,
    device: record?.plan.at(0)?.device,
  };
}
