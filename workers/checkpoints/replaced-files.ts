import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { checkpointRecordSchema } from '../../core/protocol/run/record.ts';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import { checkpointBase } from './checkpoint-store.ts';
import { readSealed, removeSealed, writeSealed } from './sealed-file.ts';

/** Ending of an empty file that stands for a file which did not exist. */
const absent = '.absent';

/**
 * Copies of files that a stop's last evaluation replaces, in `<run>/state/rank-<r>/replaced/`. A run that never stopped would not have
 * that evaluation, so a resume puts the files back: best checkpoints and predictions.
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
    const checkpoint = await unlessMissing(readSealed(this.#base(name), checkpointRecordSchema));
    if (checkpoint === null) return await markAbsent(`${copy}.json`);
    await writeSealed(copy, checkpoint.content, checkpoint.record);
  }

  /** Copies a file of predictions for the validation split that is about to be replaced. */
  async keepPredictions(path: string): Promise<void> {
    const copy = join(this.#folder, 'predictions', basename(path));
    if (await isKept(copy)) return;
    const content = await unlessMissing(readFile(path));
    if (content === null) return await markAbsent(copy);
    await mkdir(dirname(copy), { recursive: true });
    await writeFileAsOnlyWriter(copy, content);
  }

  /**
   * Puts all files back. After a crash in between, the next call puts back the rest.
   * @param predictionsFolder the folder of predictions for the validation split
   */
  async putBack(predictionsFolder: string): Promise<void> {
    for (const file of await namesIn(join(this.#folder, 'checkpoints'))) {
      const name = file.split('.')[0];
      if (file.endsWith(absent)) await removeSealed(this.#base(name));
      else if (file.endsWith('.json')) await this.#putCheckpointBack(name);
    }
    for (const file of await namesIn(join(this.#folder, 'predictions'))) {
      const copy = join(this.#folder, 'predictions', file);
      const original = join(predictionsFolder, file.replace(absent, ''));
      if (file.endsWith(absent)) await rm(original, { force: true });
      else if (file === basename(original)) await writeFileAsOnlyWriter(original, await readFile(copy));
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #putCheckpointBack(name: string): Promise<void> {
    const { record, content } = await readSealed(join(this.#folder, 'checkpoints', name), checkpointRecordSchema);
    await writeSealed(this.#base(name), content, record);
  }

  #base(name: string): string {
    return checkpointBase(this.#runFolder, this.#rank, name);
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
