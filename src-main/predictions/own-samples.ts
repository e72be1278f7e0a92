import type { InputsRequest, SampleInputs } from '../../core/ensemble/sample-inputs.ts';
import type { InputsReply, InputsTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import { predictEntry } from '../processes/node-process.ts';
import { StandingProcess } from '../processes/standing-process.ts';
import { WarmProcess } from '../processes/warm-process.ts';
import { grantFor } from '../trust/grant.ts';
import { ensembleSource, type SourceToOpen } from './ensemble-source.ts';

/** Time to read the project's data, including a download. */
const timeoutMs = 1_800_000;

/**
 * Reads inputs of the samples that runs were evaluated on, from the data of their projects. The process keeps the data
 * of the last run.
 */
export class OwnSamples {
  readonly #process = new WarmProcess();
  readonly #closing = new AbortController();
  /** Ends when the latest question has its answer. */
  #latest: Promise<unknown> = Promise.resolve();

  /**
   * @param folder the run's
   * @throws Error where the project is not trusted, its data have changed since, or cannot be read
   */
  async read(folder: string, request: InputsRequest): Promise<SampleInputs> {
    const answer = this.#latest.then(() => this.#ask(folder, request));
    // The page gets its own failure; the next question does not.
    this.#latest = answer.catch(() => undefined);
    return answer;
  }

  /** Aborts what still runs, and ends the process. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#latest;
    this.#process.end();
  }

  async #ask(folder: string, request: InputsRequest): Promise<SampleInputs> {
    const opened = await ensembleSource(folder);
    const task = taskOf(opened, request);
    const reply = await this.#process.ask<InputsReply>(JSON.stringify(opened), () => startReading(opened), {
      message: task,
      timeoutMs,
      signal: this.#closing.signal,
      subject: `The samples of the run in ${folder} could not be read`,
    });
    if (reply.type === 'read') return { inputs: reply.inputs, warnings: reply.warnings };
    // The next question reads the data again, which somebody may have restored.
    this.#process.end();
    throw new Error(reply.message);
  }
}

/** @throws Error where the code that reads the data must not run */
function taskOf({ task: { folder, source, blas } }: SourceToOpen, request: InputsRequest): InputsTask {
  if (source === null) throw new Error(`${folder} holds an exported ensemble, which has no data.`);
  if (source.projectRefusal !== null) throw new Error(source.projectRefusal);
  return { type: 'inputs', source, blas, ...request };
}

function startReading({ task, project, device }: SourceToOpen): StandingProcess {
  const grant = grantFor({ project, read: [task.folder], device });
  return new StandingProcess({ entry: predictEntry, args: [], grant, ...(device && { device }) });
}
