import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeEnsemble } from '../../core/node/describe-ensemble.ts';
import type { PredictReply } from '../../core/protocol/run/checkpoint-tasks.ts';
import { predictEntry } from '../processes/node-process.ts';
import { type Question, StandingProcess } from '../processes/standing-process.ts';
import { type Standing, WarmProcess } from '../processes/warm-process.ts';
import { grantFor } from '../trust/grant.ts';
import type { SourceToOpen } from './ensemble-source.ts';

/** Starts a process that opens an ensemble and predicts files in a folder. */
export type StartPredicting = (opened: SourceToOpen, place: string) => Standing;

/**
 * Keeps the process that predicted last for further questions about the same ensemble, so that its models are built
 * once.
 */
export class WarmPredictor {
  readonly #place: string;
  readonly #start: StartPredicting;
  readonly #process = new WarmProcess();

  /** @param place the folder with all files to predict, and of all predictions */
  constructor(place: string, start: StartPredicting = startPredicting) {
    this.#place = place;
    this.#start = start;
  }

  /** @throws Error if the run has no ensemble, or the process ends without an answer */
  async ask(opened: SourceToOpen, question: Question): Promise<PredictReply> {
    return this.#process.ask<PredictReply>(await keyOf(opened), () => this.#start(opened, this.#place), question);
  }

  /** Ends the process. */
  end(): void {
    this.#process.end();
  }
}

/** Changes with the checkpoints, what was fitted for them, the code and what the project may do. */
async function keyOf(opened: SourceToOpen): Promise<string> {
  const { folder, set } = opened.task;
  const description = await describeEnsemble(folder, set ?? undefined);
  const { postprocessing } = description;
  const fittedMs = postprocessing === null ? null : (await stat(join(folder, postprocessing))).mtimeMs;
  return JSON.stringify([opened, description, fittedMs]);
}

function startPredicting({ task, project, device }: SourceToOpen, place: string): StandingProcess {
  const grant = grantFor({ project, read: [task.folder, place], write: [place], device });
  return new StandingProcess({ entry: predictEntry, args: [], grant, ...(device && { device }) });
}
