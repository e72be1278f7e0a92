import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeEnsemble } from '../../core/node/describe-ensemble.ts';
import type { PredictReply } from '../../core/protocol/run/checkpoint-tasks.ts';
import { predictEntry } from '../processes/node-process.ts';
import { type Question, StandingProcess } from '../processes/standing-process.ts';
import { grantFor } from '../trust/grant.ts';
import type { SourceToOpen } from './ensemble-source.ts';

/** A process without questions ends after this time. */
export const idleMs = 300_000;

/** Starts a process that opens an ensemble and predicts files in a folder. */
export type StartPredicting = (
  opened: SourceToOpen,
  place: string,
) => Pick<StandingProcess, 'isRunning' | 'ask' | 'end'>;

interface Warm {
  /** What the process has opened. It is started anew after any change of that. */
  key: string;
  process: ReturnType<StartPredicting>;
}

/**
 * Keeps the process that predicted last for further questions about the same ensemble, which then need not start TensorFlow.js and build the
 * models again. Questions come one after the other. Only one process is kept, because the models of several runs could fill the memory.
 */
export class WarmPredictor {
  readonly #place: string;
  readonly #start: StartPredicting;
  #warm: Warm | null = null;
  #idle: NodeJS.Timeout | null = null;

  /** @param place the folder with all files to predict, and of all predictions */
  constructor(place: string, start: StartPredicting = startPredicting) {
    this.#place = place;
    this.#start = start;
  }

  /** @throws Error if the run has no ensemble, or the process ends without an answer */
  async ask(opened: SourceToOpen, question: Question): Promise<PredictReply> {
    this.#stopWaiting();
    const key = await keyOf(opened);
    if (this.#warm === null || this.#warm.key !== key || !this.#warm.process.isRunning) {
      this.end();
      this.#warm = { key, process: this.#start(opened, this.#place) };
    }
    try {
      return await this.#warm.process.ask<PredictReply>(question);
    } finally {
      this.#idle = setTimeout(() => this.end(), idleMs).unref();
    }
  }

  /** Ends the process. */
  end(): void {
    this.#stopWaiting();
    this.#warm?.process.end();
    this.#warm = null;
  }

  #stopWaiting(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
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
