import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { renameFlushed } from '../../core/node/atomic-file.ts';
import { explainFileError } from '../../core/node/file-error.ts';
import type { PredictReply, PredictTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import { askProcess, type Question } from '../processes/standing-process.ts';
import { predictEntry } from '../processes/node-process.ts';
import { grantFor } from '../trust/grant.ts';
import { ensembleSource } from './ensemble-source.ts';
import type { WarmPredictor } from './warm-predictor.ts';

/** Time for the first block of samples, and for each further one. */
const timeoutMs = 1_800_000;

export interface PredictRequest {
  /** A run's folder, or one with an exported ensemble. */
  folder: string;
  /** The checkpoints' name; by default the first usual ones that all members have. */
  set?: string | undefined;
  /** A file of samples, or a folder of images. */
  input: string;
  /** The file to write; its ending must be that of the format. */
  output: string;
  format: PredictTask['format'];
  /** Which texts of a CSV file are kept from being formulas; those of names and notes by default. */
  formulaGuard?: PredictTask['formulaGuard'];
  /** Whether each member has columns too. */
  withMembers?: boolean;
  /** Whether each score of how unlike the training data a sample is has a column too. */
  withScores?: boolean;
  /** Whether samples that do not fit the training data are refused, in place of warnings. */
  isStrict?: boolean;
  /** How many of the first rows the report has, at most those of one block; by default none. */
  firstRows?: number;
  /** Whether an existing file is replaced. */
  overwrite?: boolean;
  /** Aborts the prediction; nothing is left of the output. */
  signal?: AbortSignal;
  /** Called with the number of rows written so far. */
  progress?: (rows: number) => void;
  /**
   * A process that is kept for several files; by default each file has its own. It must be able to read the input and
   * to write beside the output.
   */
  predictor?: WarmPredictor;
}

export type PredictReport = Omit<Extract<PredictReply, { type: 'predicted' }>, 'type'>;

/**
 * Predicts the samples of a file with an ensemble, in a separate process that gets what the project's processes get.
 * The output is written aside, and appears once it is complete.
 * @throws Error if the input cannot be read, the output exists, or a part of the ensemble is missing or damaged
 */
export async function predictRun(request: PredictRequest): Promise<PredictReport> {
  const input = resolve(request.input);
  const output = resolve(request.output);
  if (!existsSync(input)) throw new Error(`${input} does not exist. Name a file of samples, or a folder of images.`);
  if (existsSync(output) && request.overwrite !== true) {
    throw new Error(`${output} exists. Choose another file, or replace it with --overwrite.`);
  }
  const aside = await mkdtemp(join(dirname(output), '.tutti-predictions-')).catch((error: unknown) => {
    throw explainFileError(error, dirname(output), 'write to');
  });
  try {
    const written = join(aside, basename(output));
    const report = await ask(request, { input, written, aside });
    await renameFlushed(written, output);
    return report;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function ask(
  request: PredictRequest,
  { input, written, aside }: { input: string; written: string; aside: string },
): Promise<PredictReport> {
  const { folder, set, signal, progress, predictor } = request;
  const opened = await ensembleSource(folder, set);
  const { project, device } = opened;
  const question: Question = {
    message: { type: 'predict', ...opened.task, input, output: written, ...columnsOf(request) } satisfies PredictTask,
    timeoutMs,
    ...(signal && { signal }),
    progress: (message) => progress?.((message as Extract<PredictReply, { type: 'progress' }>).rows),
    subject: `The prediction of ${input} has no result`,
  };
  const grant = grantFor({ project, read: [folder, input], write: [aside], device });
  const reply =
    predictor === undefined
      ? await askProcess<PredictReply>({ entry: predictEntry, args: [], grant, ...(device && { device }), ...question })
      : await predictor.ask(opened, question);
  if (reply.type === 'predicted') {
    const { type: _type, ...report } = reply;
    return report;
  }
  throw new Error(reply.type === 'failed' ? reply.message : 'The process ended while it predicted.');
}

function columnsOf({ format, formulaGuard = 'names', isStrict = false, ...columns }: PredictRequest) {
  const { withMembers = false, withScores = false, firstRows = 0 } = columns;
  return { format, formulaGuard, withMembers, withScores, firstRows, isStrict };
}
