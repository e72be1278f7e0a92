import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { renameFlushed } from '../../../core/node/atomic-file.ts';
import { describeEnsemble } from '../../../core/node/describe-ensemble.ts';
import { makeFolder } from '../../../core/node/make-folder.ts';
import {
  maximumAnswerBytes,
  type SampleFile,
  type SampleForm,
  type SamplePredictions,
  shownSampleRows,
} from '../../../core/protocol/pages/new-samples.ts';
import { runIdSchema } from '../../../core/protocol/run/record.ts';
import { MadeOnce } from '../../../core/text/made-once.ts';
import type { Hub } from '../../hub/hub.ts';
import { predictRun } from '../../predictions/predict-run.ts';
import { WarmPredictor } from '../../predictions/warm-predictor.ts';
import { readSampleForm } from '../../predictions/sample-form.ts';
import { homePaths } from '../../store/home.ts';
import type { WrittenExport } from './exports.ts';
import { samplePaths, type SentSamples, Uploads } from './uploads.ts';

/** Predictions for a page. Those of many samples are a file in the folder of exports. */
export type Predicted = Omit<SamplePredictions, 'csv'> & { csv: Uint8Array | WrittenExport };

/** Predicts samples that pages send. The process that predicts stays for further questions about the same run. */
export class NewSamples {
  readonly #hub: Hub;
  readonly #closing = new AbortController();
  /** Ends when the latest question has its answer: models of several at a time could fill the memory. */
  #latest: Promise<unknown> = Promise.resolve();
  readonly #place = new MadeOnce<Place>();

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  async form(id: string): Promise<SampleForm> {
    return readSampleForm((await this.#hub.find(id)).folder);
  }

  /** The files that one page sends in parts. */
  uploads(): Uploads {
    return new Uploads(async () => (await this.#openPlace()).path);
  }

  /**
   * Removes sent samples with the answer.
   * @throws Error that names the row, the column or the part of the ensemble that does not fit
   */
  async predict(id: string, samples: SampleFile | SentSamples): Promise<Predicted> {
    const place = await this.#openPlace();
    const sent = 'folder' in samples ? samples : await writeSamples(place, samples);
    try {
      const { folder } = await this.#hub.find(id);
      // A run without an ensemble is refused before a process starts.
      await describeEnsemble(folder);
      const answer = this.#latest.then(() => predictSamples(place, { id, folder }, sent, this.#closing.signal));
      // The page gets its own failure; the next question does not.
      this.#latest = answer.catch(() => undefined);
      return await answer;
    } finally {
      await rm(sent.folder, { recursive: true, force: true });
    }
  }

  /** Aborts the predictions that still run, and ends the process. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#latest;
    const place = await this.#place.made;
    place?.predictor.end();
    if (place !== null) await rm(place.path, { recursive: true, force: true });
  }

  async #openPlace(): Promise<Place> {
    this.#closing.signal.throwIfAborted();
    return this.#place.get(openPlace);
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

async function predictSamples(
  { predictor }: Place,
  { id, folder }: { id: string; folder: string },
  { folder: own, input }: SentSamples,
  signal: AbortSignal,
): Promise<Predicted> {
  const output = join(own, 'predictions.csv');
  const report = await predictRun({
    folder,
    input,
    output,
    format: 'csv',
    withMembers: true,
    withScores: true,
    firstRows: shownSampleRows,
    signal,
    predictor,
  });
  const { size } = await stat(output);
  const csv = size > maximumAnswerBytes ? await saveAnswer(id, output, size) : new Uint8Array(await readFile(output));
  return { ...report, csv };
}

/** Writes predictions among the exports, in place of earlier ones of this run. */
async function saveAnswer(id: string, output: string, bytes: number): Promise<WrittenExport> {
  const fileName = `${runIdSchema.parse(id)}-predictions.csv`;
  const path = join(homePaths().exports, fileName);
  await makeFolder(dirname(path));
  const aside = `${path}.part`;
  await copyFile(output, aside);
  await renameFlushed(aside, path);
  return { path, fileName, bytes, warnings: [] };
}

/** Writes a file of samples, or the only image of a folder. */
async function writeSamples(place: Place, { ending, bytes }: SampleFile): Promise<SentSamples> {
  const folder = await mkdtemp(join(place.path, 'question-'));
  const { path, input } = samplePaths(folder, ending);
  await mkdir(dirname(path));
  await writeFile(path, bytes);
  return { folder, input };
}
