import { stat } from 'node:fs/promises';
import type { PredictionColumn } from '../../core/ensemble/columns.ts';
import { z } from 'zod';
import {
  type InputsReply,
  type InputsTask,
  inputsTaskSchema,
  type PredictReply,
  type PredictTask,
  predictTaskSchema,
} from '../../core/protocol/run/checkpoint-tasks.ts';
import type { InputPart } from '../../core/ensemble/sample-inputs.ts';
import { messageOf } from '../../core/text/errors.ts';
import { MadeOnce } from '../../core/text/made-once.ts';
import { predictFile } from '../inference/predict-file.ts';
import { blockInputs } from '../inference/input-parts.ts';
import { SampleReader } from '../inference/sample-reader.ts';
import { withNotes } from '../data/notes.ts';
import { startBackend } from '../backends/backend.ts';
import { type OpenedSource, openSource, tableInputsOf } from '../project/open-source.ts';
import { RunModels } from '../project/rebuild-model.ts';
import { explainError, stackOf } from '../project/explain-error.ts';
import { onQuestion, tellHub } from '../session/hub-link.ts';

/**
 * Entry of the process that predicts files of samples with one ensemble, or reads inputs of the samples of one run.
 * Started by `src-main/predictions/`, which sends a task, receives how far it is and the reply, then sends the next
 * task of the same kind or ends the process.
 */

const taskSchema = z.discriminatedUnion('type', [predictTaskSchema, inputsTaskSchema]);

/** All tasks name the same ensemble. */
const opened = new MadeOnce<OpenedSource>();
/** The data of the run that all tasks name. */
const reader = new MadeOnce<{ samples: SampleReader; warnings: string[] }>();

async function predict(task: PredictTask): Promise<PredictReply> {
  const { type: _type, source, firstRows, ...options } = task;
  await stat(task.input);
  const { ensemble, models } = await opened.get(() => openSource(task));
  let first: PredictionColumn[] = [];
  let inputs: InputPart[][] = [];
  const { result: rows, notes } = await withNotes(() =>
    predictFile(ensemble, {
      ...options,
      tableInputs:
        models === null || source === null || source.projectRefusal !== null
          ? null
          : () => tableInputsOf(models, source),
      firstBlock: async (columns, block, positions) => {
        if (firstRows === 0) return;
        first = columns.map((column) => headOf(column, firstRows));
        inputs = await blockInputs(block, Math.ceil(firstRows / positions));
      },
      progress: (done) => tellHub({ type: 'progress', rows: done }),
    }),
  );
  return {
    type: 'predicted',
    rows,
    set: ensemble.description.set,
    warnings: [...(models?.warnings ?? []), ...ensemble.cautions, ...notes],
    first,
    outside: ensemble.postprocessing?.outside ?? null,
    inputs,
  };
}

async function readInputs(task: InputsTask): Promise<InputsReply> {
  const { samples, warnings } = await reader.get(() => openReader(task));
  return { type: 'read', inputs: await samples.read(task), warnings };
}

/** A project's data may be computed on the run's backend. */
async function openReader({ source, blas }: InputsTask) {
  const { backend, determinism } = source.config;
  await startBackend(backend, { blas, determinism });
  const models = new RunModels(source);
  const { data } = await models.project();
  return { samples: new SampleReader(data, source.runFolder), warnings: models.warnings };
}

/** A copy of the first rows. */
function headOf(column: PredictionColumn, rows: number): PredictionColumn {
  switch (column.type) {
    case 'number':
      return { ...column, values: column.values.slice(0, rows) };
    case 'text':
      return { ...column, values: column.values.slice(0, rows) };
    case 'boolean':
      return { ...column, values: column.values.slice(0, rows) };
  }
}

async function answer(message: unknown): Promise<PredictReply | InputsReply> {
  const parsed = taskSchema.safeParse(message);
  if (!parsed.success) return { type: 'failed', message: messageOf(parsed.error), stack: stackOf(parsed.error) };
  const task = parsed.data;
  try {
    return task.type === 'predict' ? await predict(task) : await readInputs(task);
  } catch (error) {
    const message = task.source === null ? messageOf(error) : explainError(error, task.source.projectFolder);
    return { type: 'failed', message, stack: stackOf(error) };
  }
}

onQuestion((message) => void answer(message).then(tellHub));
