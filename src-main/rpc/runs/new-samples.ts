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
import { WarmPredictor } from '../../predictions/warm-predictor.ts';
import { readSampleForm } from '../../predictions/sample-form.ts';

/** Predicts samples that pages send. The process that predicts stays for further questions about the same run. */
export class NewSamples {
  readonly #hub: Hub;
  readonly #closing = new AbortController();
  /** Ends when the latest question has its answer: models of several at a time could fill the memory. */
  #latest: Promise<unknown> = Promise.resolve();
  #place: Promise<Place> | null = null;

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
    this.#closing.signal.throwIfAborted();
    const place = await (this.#place ??= openPlace());
    const answer = this.#latest.then(() => predictSamples(place, folder, file, this.#closing.signal));
    // The page gets its own failure; the next question does not.
    this.#latest = answer.catch(() => undefined);
    return answer;
  }

  /** Aborts the predictions that still run, and ends the process. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#latest;
    const place = await this.#place;
    place?.predictor.end();
    if (place !== null) await rm(place.path, { recursive: true, force: true });
  }
}

/** The folder of all samples, which only the user can read, and the process that may read it. */
interface Place {
  path: string;
  predictor: WarmPredictor;
}

async function openPlace(): Promise<Place> {
  const path = await mkdtemp(join(tmpdir(), 'tutti-samples-'));
  return { path, predictor: new WarmPredictor(path) };
}

/** The samples are removed with the answer. */
async function predictSamples(
  { path, predictor }: Place,
  folder: string,
  file: SampleFile,
  signal: AbortSignal,
): Promise<SamplePredictions> {
  const own = await mkdtemp(join(path, 'question-'));
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
      predictor,
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
