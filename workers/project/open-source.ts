import type { EnsembleSource, RunSource } from '../../core/protocol/run/checkpoint-tasks.ts';
import { startBackend } from '../backends/backend.ts';
import type { Ensemble } from '../inference/ensemble.ts';
import { openEnsemble } from '../inference/open-ensemble.ts';
import { RunModels } from './rebuild-model.ts';
import type { TableInputs } from '../inference/read-inputs.ts';

/**
 * An open ensemble, and what builds models of layers that only the project's code has; null for an exported ensemble.
 */
export interface OpenedSource {
  ensemble: Ensemble;
  models: RunModels | null;
}

/**
 * Starts the backend of the run and opens its ensemble.
 * @throws Error that names the file that is missing or damaged
 */
export async function openSource({ folder, set, source, blas }: EnsembleSource): Promise<OpenedSource> {
  const { backend, determinism } = source?.config ?? { backend: 'auto' as const, determinism: undefined };
  await startBackend(backend, { blas, ...(determinism && { determinism }) });
  const models = source === null ? null : new RunModels(source);
  const buildModel = models === null ? {} : { buildModel: models.build.bind(models) };
  return { ensemble: await openEnsemble(folder, { ...(set !== null && { set }), ...buildModel }), models };
}

/** The project's own way from a table to inputs (`inputs` of `defineProject`); null if it has none. */
export async function tableInputsOf(
  models: RunModels,
  { config, dataFolders: folders }: RunSource,
): Promise<TableInputs | null> {
  const { project, hyperparameters } = await models.code();
  if (project.inputs === undefined) return null;
  const context = { hyperparameters, config, folders, seed: config.seed };
  return async (table) => (await project.inputs?.({ ...context, table })) ?? { table };
}
