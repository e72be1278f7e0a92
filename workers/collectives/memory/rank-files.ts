import { ftruncateSync, openSync, readSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const zeros = new Uint8Array(2 ** 20);

/**
 * Makes a file in memory longer, if its folder has room for twice what is added. Writes zeros: a file that is only
 * extended takes its memory later, when there may be none left.
 * @returns whether there was room
 */
export function growFile(file: number, folder: string, fromBytes: number, toBytes: number): boolean {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < 2 * (toBytes - fromBytes)) return false;
  try {
    for (let end = fromBytes; end < toBytes;) {
      end += writeSync(file, zeros, 0, Math.min(zeros.length, toBytes - end), end);
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return false;
  }
}

/**
 * The files in memory of a group's ranks. Each rank writes its own file, and all read it. Offsets and sizes are in
 * bytes.
 */
export class RankFiles {
  readonly #folder: string;
  readonly #rank: number;
  readonly #descriptors = new Map<number, number>();
  #isLinked = true;

  constructor(folder: string, rank: number) {
    this.#folder = folder;
    this.#rank = rank;
  }

  /** Makes this rank's file longer. @returns whether there was room */
  grow(fromBytes: number, toBytes: number): boolean {
    const file = this.#descriptors.get(this.#rank) ?? openSync(this.#path(this.#rank), 'wx+', 0o600);
    this.#descriptors.set(this.#rank, file);
    return growFile(file, this.#folder, fromBytes, toBytes);
  }

  /** Makes this rank's file shorter. */
  truncate(bytes: number): void {
    ftruncateSync(this.descriptor(this.#rank), bytes);
  }

  /** Removes the name of this rank's file once all ranks have opened it: it is then gone with its processes. */
  unlink(): void {
    if (this.#isLinked) unlinkSync(this.#path(this.#rank));
    this.#isLinked = false;
  }

  descriptor(rank: number): number {
    const open = this.#descriptors.get(rank);
    if (open !== undefined) return open;
    const file = openSync(this.#path(rank), 'r');
    this.#descriptors.set(rank, file);
    return file;
  }

  /** Fills `target` with bytes of a rank's file. */
  read(rank: number, target: Uint8Array, offset: number): void {
    for (let done = 0; done < target.length;) {
      const count = readSync(this.descriptor(rank), target, done, target.length - done, offset + done);
      if (count === 0) {
        throw new Error(
          `${this.#path(rank)} ends at byte ${offset + done}, before the ${target.length} bytes that rank ` +
            `${rank} wrote there.`,
        );
      }
      done += count;
    }
  }

  /** Writes to this rank's file. */
  write(source: Uint8Array, offset: number): void {
    for (let done = 0; done < source.length;) {
      done += writeSync(this.descriptor(this.#rank), source, done, source.length - done, offset + done);
    }
  }

  #path(rank: number): string {
    return join(this.#folder, `collective-${rank}.bin`);
  }
}
