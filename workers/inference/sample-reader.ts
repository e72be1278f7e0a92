import { readOwnBytes } from '../../core/node/own-files.ts';
import { basename, dirname, join } from 'node:path';
import type { InputsRequest, SampleInput } from '../../core/ensemble/sample-inputs.ts';
import { decodeSafetensors } from '../../core/safetensors/safetensors.ts';
import { MadeOnce } from '../../core/text/made-once.ts';
import { type Dataset, type Splits, subset } from '../data/dataset.ts';
import { loadDataset } from '../data/streams/source-dataset.ts';
import { inputParts } from './input-parts.ts';

type Split = InputsRequest['split'];

/** Reads the inputs of samples that a run has kept predictions of. */
export class SampleReader {
  readonly #data: Splits;
  readonly #runFolder: string;
  readonly #checked = new Map<Split, MadeOnce<Dataset>>();

  /** @param data of the run's project */
  constructor(data: Splits, runFolder: string) {
    this.#data = data;
    this.#runFolder = runFolder;
  }

  /** @throws Error where the split is missing, is no longer that of the run, or has no such sample */
  async read({ split, samples }: InputsRequest): Promise<SampleInput[]> {
    const checked = this.#checked.get(split) ?? new MadeOnce<Dataset>();
    this.#checked.set(split, checked);
    const dataset = await checked.get(() => this.#check(split));
    const absent = samples.find((sample) => sample >= dataset.length);
    if (absent !== undefined) {
      throw new Error(`The ${split} split has no sample ${absent}: it has 0 to ${dataset.length - 1}.`);
    }
    const read = await loadDataset(subset(dataset, Int32Array.from(samples)));
    const preprocessing = this.#data.preprocessing ?? null;
    return Promise.all(
      samples.map(async (sample, row) => ({ sample, parts: await inputParts(read, preprocessing, row) })),
    );
  }

  /**
   * The split, if it has the targets that the run kept: else a sample would be shown beside the predictions of another
   * one.
   */
  async #check(split: Split): Promise<Dataset> {
    const dataset = this.#data[split];
    if (dataset === undefined) {
      throw new Error(`The project's data has no ${split} split now, so its samples cannot be shown.`);
    }
    const path = join(this.#runFolder, 'predictions', split, 'targets.safetensors');
    const kept = decodeSafetensors(await readOwnBytes(dirname(path), basename(path))).tensors.find(
      ({ name }) => name === 'targets',
    )?.data;
    if (kept === undefined) throw new Error(`${path} has no targets: another version of Tutti wrote it.`);
    const difference = differenceOf(dataset.targets, kept);
    if (difference === null) return dataset;
    throw new Error(
      `The data have changed since the run trained: the ${split} split ${difference}. Inputs beside these ` +
        'predictions could be those of other samples. Restore the data that the run was trained with.',
    );
  }
}

function differenceOf(now: ArrayLike<number>, kept: ArrayLike<number | bigint>): string | null {
  if (now.length !== kept.length) return `has ${now.length} targets now, the run had ${kept.length}`;
  const others = Array.from(now).filter((value, i) => !Object.is(value, Number(kept[i]))).length;
  return others === 0 ? null : `has other values in ${others} of ${kept.length} targets`;
}
