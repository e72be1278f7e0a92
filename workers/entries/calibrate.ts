import { type CalibrationReply, calibrationTaskSchema } from '../../core/protocol/run/checkpoint-tasks.ts';
import { messageOf } from '../../core/text/errors.ts';
import { startBackend } from '../backends/backend.ts';
import { calibrateSet } from '../postprocessing/calibrate-set.ts';
import { RunModels } from '../project/rebuild-model.ts';
import { explainError, stackOf } from '../project/explain-error.ts';
import { questionOfHub, replyToHub } from '../session/hub-link.ts';

/**
 * Entry of the process that fits calibration, conformal sets and thresholds for a set of a run's checkpoints. Started
 * by `src-main/calibration/calibrate-run.ts`, which sends the task and receives the reply.
 */

const reply: (message: CalibrationReply) => void = replyToHub;

try {
  const message = await questionOfHub();
  reply(await answer(message));
} catch (error) {
  reply({ type: 'failed', message: messageOf(error), stack: stackOf(error) });
}

async function answer(message: unknown): Promise<CalibrationReply> {
  const task = calibrationTaskSchema.parse(message);
  try {
    await startBackend(task.config.backend, { blas: task.blas, determinism: task.config.determinism });
    const models = new RunModels(task);
    return { type: 'calibrated', postprocessing: await calibrateSet(task, models), warnings: models.warnings };
  } catch (error) {
    return { type: 'failed', message: explainError(error, task.projectFolder), stack: stackOf(error) };
  }
}
