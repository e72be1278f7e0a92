import type { Launch } from '../../core/protocol/run/messages.ts';
import type { Splits } from '../data/dataset.ts';
import { Generator, withSeededMathRandom } from '../random/index.ts';
import type { Project } from './define-project.ts';

/** A project's data as its run sees it: what is random in it depends on the run's seed alone, the same in every process. */
export async function loadProjectData(
  project: Project,
  hyperparameters: Record<string, unknown>,
  { config, dataFolders }: Pick<Launch, 'config' | 'dataFolders'>,
): Promise<Splits> {
  const context = { hyperparameters, config, folders: dataFolders, seed: config.seed };
  return withSeededMathRandom(new Generator(config.seed, 'data'), () => project.data(context));
}
