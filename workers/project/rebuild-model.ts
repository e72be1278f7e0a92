import type { RunSource } from '../../protocol/set-evaluation.ts';
import type { Splits } from '../data/dataset.ts';
import type { LayersModel } from '../tf.ts';
import { ensembleTask } from '../strategies/ensemble-task.ts';
import { type Task, taskOf } from '../training/tasks.ts';
import { loadProjectData } from './load-data.ts';
import { loadProject, parseHyperparameters } from './load-project.ts';

export interface RebuiltModel {
  /** As it was before training: write a checkpoint's weights into it. */
  model: LayersModel;
  task: Task;
  data: Splits;
}

/** The model of one rank of a run, built again from the project; the data tell its shapes. A backend must have been started. */
export async function rebuildModel(source: RunSource, rank: number): Promise<RebuiltModel> {
  const { config, projectFolder } = source;
  const project = await loadProject(projectFolder);
  const hyperparameters = parseHyperparameters(project, config.hyperparameters);
  const data = await loadProjectData(project, hyperparameters, source);
  const task = ensembleTask(taskOf(project.task), config.strategy);
  const { featureShape } = data.train;
  const targetSize = task.targetSize(data.train);
  return { model: project.model({ hyperparameters, config, featureShape, targetSize, rank }), task, data };
}
