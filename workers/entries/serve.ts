import { frameOfReply, requestOfFrame, type ServeReply, type ServeRequest } from '../../core/ensemble/serving.ts';
import { type EnsembleSource, ensembleSourceSchema } from '../../core/protocol/run/checkpoint-tasks.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { TableInputs } from '../inference/read-inputs.ts';
import { hasColumns, TensorEnsemble } from '../inference/served.ts';
import { type OpenedSource, openSource, tableInputsOf } from '../project/open-source.ts';
import { explainError, stackOf } from '../project/explain-error.ts';
import { hubChannel } from '../session/hub-link.ts';

/**
 * Entry of the process that predicts for `tutti serve`. Started by `src-main/serving/model-process.ts`, which sends the
 * task and then one batch of samples after the other, and receives what the ensemble is and its predictions.
 */

const channel = hubChannel();

async function open(task: EnsembleSource): Promise<TensorEnsemble | null> {
  try {
    const opened = await openSource(task);
    const own = hasColumns(opened.ensemble.preprocessing) ? noInputs : await inputsOfProject(opened, task);
    const served = new TensorEnsemble(opened.ensemble, own.tableInputs);
    tell({ type: 'ready', ensemble: await served.describe([...(opened.models?.warnings ?? []), ...own.warnings]) });
    return served;
  } catch (error) {
    const message = task.source === null ? messageOf(error) : explainError(error, task.source.projectFolder);
    tell({ type: 'failed', message, stack: stackOf(error) });
    return null;
  }
}

interface ProjectInputs {
  tableInputs: TableInputs | null;
  warnings: string[];
}

const noInputs: ProjectInputs = { tableInputs: null, warnings: [] };

/** A project without `inputs` is no failure: the models take features. */
async function inputsOfProject({ models }: OpenedSource, { source }: EnsembleSource): Promise<ProjectInputs> {
  if (models === null || source === null) return noInputs;
  const refused = (reason: string): ProjectInputs => ({
    tableInputs: null,
    warnings: [`Requests cannot give columns for the \`inputs\` that the project may have: ${reason}`],
  });
  if (source.projectRefusal !== null) return refused(source.projectRefusal);
  try {
    return { tableInputs: await tableInputsOf(models, source), warnings: [] };
  } catch (error) {
    return refused(explainError(error, source.projectFolder));
  }
}

async function answer(served: TensorEnsemble, request: ServeRequest): Promise<ServeReply> {
  try {
    return { type: 'predicted', ...(await served.predict(request)) };
  } catch (error) {
    return { type: 'failed', message: messageOf(error), stack: stackOf(error) };
  }
}

function tell(reply: ServeReply): void {
  channel.send(frameOfReply(reply));
}

const task = await new Promise((receive) =>
  channel.onFrame((frame) => receive(frame.kind === 'message' ? frame.message : null)),
);
const served = await open(ensembleSourceSchema.parse(task));
if (served !== null) channel.onFrame((frame) => void answer(served, requestOfFrame(frame)).then(tell));
