import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describeEnsemble } from '../../../core/node/describe-ensemble.ts';
import {
  imageEndings,
  type SampleFile,
  type SampleForm,
  type SamplePredictions,
  shownSampleRows,
} from '../../../core/protocol/pages/new-samples.ts';
import type { Hub } from '../../hub/hub.ts';
import { predictRun } from '../../predictions/predict-run.ts';
import { readSampleForm } from '../../predictions/sample-form.ts';

/** Predicts samples that pages send, each file in a separate process. */
export class NewSamples {
  readonly #hub: Hub;
  readonly #closing = new AbortController();
  /** Ends when the latest question has its answer: models of several at a time could fill the memory. */
  #latest: Promise<unknown> = Promise.resolve();

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  async form(id: string): Promise<SampleForm> {
    return readSampleForm((await this.#hub.find(id)).folder);
  }

  /** @throws Error that names the row, the column or the part of the ensemble that does not fit */
  async predict(id: string, file: SampleFile): Promise<SamplePredictions> {
    const { folder } = await this.#hub.find(id);
    // A run without an ensemble is refused before a process starts.
    await describeEnsemble(folder);
    const answer = this.#latest.then(() => predictSamples(folder, file, this.#closing.signal));
    // The page gets its own failure; the next question does not.
    this.#latest = answer.catch(() => undefined);
    return answer;
  }

  /** Aborts the predictions that still run. */
  close(): void {
    this.#closing.abort();
  }
}

/** Only the user can read the folder with the samples. It is removed with the answer. */
async function predictSamples(folder: string, file: SampleFile, signal: AbortSignal): Promise<SamplePredictions> {
  const own = await mkdtemp(join(tmpdir(), 'tutti-samples-'));
  try {
    const output = join(own, 'predictions.csv');
    const { rows, set, warnings, first } = await predictRun({
      folder,
      input: await writeSamples(own, file),
      output,
      format: 'csv',
      withMembers: true,
      firstRows: shownSampleRows,
      signal,
    });
    return { set, rows, first, warnings, csv: new Uint8Array(await readFile(output)) };
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** Writes a file of samples, or the only image of a folder. @returns what to predict */
async function writeSamples(own: string, { ending, bytes }: SampleFile): Promise<string> {
  const isImage = imageEndings.some((image) => image === ending);
  const path = isImage ? join(own, 'images', `image.${ending}`) : join(own, 'input', `samples.${ending}`);
  await mkdir(dirname(path));
  await writeFile(path, bytes);
  return isImage ? dirname(path) : path;
}
