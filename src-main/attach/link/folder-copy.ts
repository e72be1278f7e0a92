import { join } from 'node:path';
import { explainFileError } from '../../../core/node/file-error.ts';
import { openOwnFile } from '../../../core/node/own-files.ts';
import { removeOwn, writeOwnFile } from '../../../core/node/own-folders.ts';
import { type FilePart, followedAs, type HeldFile } from '../../../core/protocol/run/follow.ts';

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

  /**
   * Writes parts of files, in their order.
   * @throws Error for a path that is none of a run, and with the reason if a file cannot be written
   */
  async take(parts: readonly FilePart[], bytes: readonly Uint8Array[], removed: readonly string[] = []): Promise<void> {
    for (const [index, part] of parts.entries()) await this.#takePart(part, bytes[index]);
    for (const path of removed) {
      checkPath(path);
      await removeOwn(this.#folder, path);
      this.#held.delete(path);
    }
  }

  async #takePart({ path, identity, offset, isNew }: FilePart, bytes: Uint8Array): Promise<void> {
    checkPath(path);
    if (path === 'run.json') await this.#takeRecord(Buffer.from(bytes).toString());
    else if (isNew) await writeOwnFile(this.#folder, path, bytes);
    else await this.#append(path, offset, bytes);
    this.#held.set(path, { path, identity, bytes: offset + bytes.length });
  }

  async #append(path: string, offset: number, bytes: Uint8Array): Promise<void> {
    try {
      const handle = await openOwnFile(this.#folder, path, 'change');
      try {
        await handle.write(bytes, 0, bytes.length, offset);
      } finally {
        await handle.close();
      }
    } catch (error) {
      this.#held.delete(path);
      throw explainFileError(error, join(this.#folder, path), 'append to');
    }
  }
}

/** The other side must not write anywhere else. */
function checkPath(path: string): void {
  if (followedAs(path) === null)
    throw new Error(`The other side sent the file "${path}", which is none of a run that is followed.`);
}
