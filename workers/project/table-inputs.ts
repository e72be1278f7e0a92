import type { RunSource } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { TableInputs } from '../inference/read-inputs.ts';
import type { RunModels } from './rebuild-model.ts';

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
