import { join } from 'node:path';
import type { Launch } from '../../core/protocol/run/messages.ts';
import { saveFigure } from '../plots/index.ts';
import { explainError, stackOf } from '../project/trace/explain-error.ts';
import type { Prepared, SessionLinks } from './preparation/prepare.ts';
import { copyForProject } from '../member/predictions.ts';
import type { SetsOutcome } from '../training/evaluate-sets.ts';

/** Draws the project's figures into the run's `plots/`. A figure that fails is reported, and does not end the run. */
export async function drawFigures(
  launch: Launch,
  links: SessionLinks,
  { project, hyperparameters, data, trainer }: Prepared,
  { evaluated, predictions }: SetsOutcome,
): Promise<void> {
  if (project.figures === undefined) return;
  try {
    await project.figures({
      hyperparameters,
      config: launch.config,
      data,
      history: trainer.history.series,
      evaluatedSets: evaluated,
      predictions: copyForProject(predictions),
      save: (name, figure) => saveFigure(join(launch.runFolder, 'plots'), name, figure),
      print: (line) => links.print(line),
    });
  } catch (error) {
    console.error(stackOf(error));
    const reason = explainError(error, launch.projectFolder);
    trainer.training.announce('figures-failed', `The project's figures() failed: ${reason}`);
  }
}
