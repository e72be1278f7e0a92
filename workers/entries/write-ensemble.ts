import { readOwnText } from '../../core/node/own-files.ts';
import { asError } from '../../core/text/errors.ts';
import { join } from 'node:path';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import { type Postprocessing, postprocessingPath, postprocessingSchema } from '../../core/postprocessing/schema.ts';
import { type Preprocessing, preprocessingSchema } from '../../core/preprocessing/schema.ts';
import { type EnsembleReply, type EnsembleTask, ensembleTaskSchema } from '../../core/protocol/run/checkpoint-tasks.ts';
import { startBackend } from '../backends/backend.ts';
import { requireFitting } from '../inference/assemble.ts';
import { OnnxEnsembleWriter } from '../onnx/ensemble-file.ts';
import { PytorchEnsembleWriter } from '../pytorch/ensemble-files.ts';
import { RunModels } from '../project/rebuild-model.ts';
import { questionOfHub, replyToHub } from '../session/hub-link.ts';

/**
 * Entry of the process that writes an ensemble for programs without Tutti. Started by
 * `src-main/export/run-entries.ts`, which sends the task and receives the reply.
 */

async function writeEnsemble(task: EnsembleTask): Promise<{ paths: string[]; warnings: string[] }> {
  const { format, ensemble, version, into } = task;
  // The export computes nothing, so any backend will do, whatever the run was trained on.
  await startBackend('cpu');
  const models = new RunModels(task);
  const Writer = format === 'onnx' ? OnnxEnsembleWriter : PytorchEnsembleWriter;
  const writer = new Writer(ensemble, await readPreprocessing(task), await readCalibration(task));
  for (const { rank } of ensemble.members) writer.add(await models.withWeights(rank, ensemble.set));
  const files = writer.finish(version);
  for (const { path, content } of files) await writeFileAsOnlyWriter(join(into, path), content);
  return { paths: files.map(({ path }) => path), warnings: [...models.warnings] };
}

async function readCalibration({ runFolder, ensemble }: EnsembleTask): Promise<Postprocessing['calibration']> {
  const text = await unlessMissing(readOwnText(runFolder, postprocessingPath(ensemble.set)));
  if (text === null) return null;
  const fitted = postprocessingSchema.parse(JSON.parse(text));
  requireFitting({ place: runFolder, isExported: false }, ensemble, fitted);
  return fitted.calibration;
}

async function readPreprocessing({ runFolder, ensemble }: EnsembleTask): Promise<Preprocessing | null> {
  if (ensemble.preprocessing === null) return null;
  return preprocessingSchema.parse(JSON.parse(await readOwnText(runFolder, ensemble.preprocessing)));
}

const reply: (message: EnsembleReply) => void = replyToHub;

try {
  const message = await questionOfHub();
  reply({ type: 'written', ...(await writeEnsemble(ensembleTaskSchema.parse(message))) });
} catch (error) {
  const { message, stack = '' } = asError(error);
  reply({ type: 'failed', message, stack });
}
