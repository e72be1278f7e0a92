import { asError } from '../../core/text/errors.ts';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { checkpointRecordSchema } from '../../core/protocol/run/record.ts';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import { readOwnBytes } from '../../core/node/own-files.ts';
import { decodeSafetensors } from '../../core/safetensors/safetensors.ts';
import { checkpointBase } from './checkpoint-store.ts';
import { readSealed, removeSealed, writeSealed } from './sealed-file.ts';

/** Ending of an empty file that stands for a file which did not exist. */
const absent = '.absent';

/**
 * Copies of files that a stop's last evaluation replaces, in `<run>/state/rank-<r>/replaced/`. A run that never stopped
 * would not have that evaluation, so a resume puts the files back: best checkpoints and predictions.
 */
export class ReplacedFiles {
  readonly #runFolder: string;
  readonly #rank: number;
  readonly #folder: string;

  constructor(runFolder: string, rank: number) {
    this.#runFolder = runFolder;
    this.#rank = rank;
    this.#folder = join(runFolder, 'state', `rank-${rank}`, 'replaced');
  }

  /** Copies a checkpoint that is about to be replaced, unless an earlier one of that name is kept already. */
  async keepCheckpoint(name: string): Promise<void> {
    const copy = join(this.#folder, 'checkpoints', name);
    if (await isKept(`${copy}.json`)) return;
    const checkpoint = await wholeOrDamage(readSealed(this.#base(name), checkpointRecordSchema));
    if (checkpoint === null) return await markAbsent(`${copy}.json`);
    // What replaces a damaged one is better than nothing, so it is to stay.
    if (checkpoint instanceof Error) console.warn(`No copy of it is kept for a resume: ${checkpoint.message}`);
    else await writeSealed(copy, checkpoint.content, checkpoint.record);
  }

  /** Copies a file of predictions for the validation split that is about to be replaced. */
  async keepPredictions(path: string): Promise<void> {
    const copy = join(this.#folder, 'predictions', basename(path));
    if (await isKept(copy)) return;
    const content = await wholeOrDamage(readOwnBytes(dirname(path), basename(path)));
    if (content === null) return await markAbsent(copy);
    if (content instanceof Error) return console.warn(`No copy of it is kept for a resume: ${content.message}`);
    await mkdir(dirname(copy), { recursive: true });
    await writeFileAsOnlyWriter(copy, content);
  }

  /**
   * Puts all files back. After a crash in between, the next call puts back the rest.
   * @param predictionsFolder the folder of predictions for the validation split
   * @returns what is wrong with damaged copies: the files that the stop's evaluation wrote stay in their place
   */
  async putBack(predictionsFolder: string): Promise<string[]> {
    const problems: (string | null)[] = [];
    for (const file of await namesIn(join(this.#folder, 'checkpoints'))) {
      const name = file.split('.')[0];
      if (file.endsWith(absent)) await removeSealed(this.#base(name));
      else if (file.endsWith('.json')) problems.push(await this.#putCheckpointBack(name));
    }
    for (const file of await namesIn(join(this.#folder, 'predictions'))) {
      const original = join(predictionsFolder, file.replace(absent, ''));
      if (file.endsWith(absent)) await rm(original, { force: true });
      else if (file === basename(original)) problems.push(await this.#putPredictionsBack(file, original));
    }
    await rm(this.#folder, { recursive: true, force: true });
    return problems.filter((problem) => problem !== null);
  }

  async #putCheckpointBack(name: string): Promise<string | null> {
    const copy = await wholeOrDamage(readSealed(join(this.#folder, 'checkpoints', name), checkpointRecordSchema));
    if (copy instanceof Error) return copy.message;
    if (copy !== null) await writeSealed(this.#base(name), copy.content, copy.record);
    return null;
  }

  async #putPredictionsBack(file: string, original: string): Promise<string | null> {
    const folder = join(this.#folder, 'predictions');
    const copy = await wholeOrDamage(
      readOwnBytes(folder, file).then((content) => {
        decodeSafetensors(content);
        return content;
      }),
    );
    if (copy instanceof Error) return `${join(folder, file)} is damaged: ${copy.message}`;
    if (copy !== null) await writeFileAsOnlyWriter(original, copy);
    return null;
  }

  #base(name: string): string {
    return checkpointBase(this.#runFolder, this.#rank, name);
  }
}

/** What a file holds, null if it is missing, or why it cannot be read. */
async function wholeOrDamage<T extends object>(reading: Promise<T>): Promise<T | Error | null> {
  try {
    return await unlessMissing(reading);
  } catch (error) {
    return asError(error);
  }
}

async function isKept(copy: string): Promise<boolean> {
  const names = await namesIn(dirname(copy));
  return names.includes(basename(copy)) || names.includes(`${basename(copy)}${absent}`);
}

async function markAbsent(copy: string): Promise<void> {
  await mkdir(dirname(copy), { recursive: true });
  await writeFileAsOnlyWriter(`${copy}${absent}`, '');
}

async function namesIn(folder: string): Promise<string[]> {
  return (await unlessMissing(readdir(folder))) ?? [];
}
