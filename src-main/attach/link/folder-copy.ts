import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { explainFileError } from '../../../core/node/file-error.ts';
import { makeFolder } from '../../../core/node/make-folder.ts';
import { type FilePart, followedAs, type HeldFile } from '../../../core/protocol/run/control/follow.ts';

/** The copy of a folder elsewhere. It follows the original file by file, so that whatever shows runs can show it. */
export class FolderCopy {
  readonly #folder: string;
  readonly #held = new Map<string, HeldFile>();
  readonly #takeRecord: (text: string) => Promise<void>;

  /** @param takeRecord writes the run's record, which is not a plain copy */
  constructor(folder: string, takeRecord: (text: string) => Promise<void>) {
    this.#folder = folder;
    this.#takeRecord = takeRecord;
  }

  /** What is here already. */
  get held(): HeldFile[] {
    return [...this.#held.values()];
  }

  /** Writes parts of files, in their order. @throws Error for a path that is none of a run, and with the reason if a file cannot be written */
  async take(parts: readonly FilePart[], bytes: readonly Uint8Array[], removed: readonly string[] = []): Promise<void> {
    for (const [index, part] of parts.entries()) await this.#takePart(part, bytes[index]);
    for (const path of removed) {
      checkPath(path);
      await rm(join(this.#folder, path), { force: true });
      this.#held.delete(path);
    }
  }

  async #takePart({ path, identity, offset, isNew }: FilePart, bytes: Uint8Array): Promise<void> {
    checkPath(path);
    if (path === 'run.json') await this.#takeRecord(Buffer.from(bytes).toString());
    else if (isNew) await this.#replace(path, bytes);
    else await this.#append(path, offset, bytes);
    this.#held.set(path, { path, identity, bytes: offset + bytes.length });
  }

  async #replace(path: string, bytes: Uint8Array): Promise<void> {
    const full = join(this.#folder, path);
    await makeFolder(dirname(full));
    await writeFileAtomic(full, bytes);
  }

  async #append(path: string, offset: number, bytes: Uint8Array): Promise<void> {
    const full = join(this.#folder, path);
    try {
      const handle = await open(full, 'r+');
      try {
        await handle.write(bytes, 0, bytes.length, offset);
      } finally {
        await handle.close();
      }
    } catch (error) {
      this.#held.delete(path);
      throw explainFileError(error, full, 'append to');
    }
  }
}

/** The other side must not write anywhere else. */
function checkPath(path: string): void {
  if (followedAs(path) === null)
    throw new Error(`The other side sent the file "${path}", which is none of a run that is followed.`);
}
