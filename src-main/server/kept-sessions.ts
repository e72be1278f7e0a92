import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { errorCode } from '../../core/node/file-error.ts';
import { makeFolder } from '../../core/node/make-folder.ts';
import { messageOf } from '../../core/text/errors.ts';
import { privateMode } from '../store/private-home.ts';

/** SHA-256 in base64url. */
const hashSchema = z.string().regex(/^[\w-]{43}$/);
const keptSchema = z.strictObject({
  sessions: z.array(
    z.strictObject({ role: z.literal('owner'), cookieHash: hashSchema, keyHash: hashSchema, sinceMs: z.number() }),
  ),
});

/** A browser of the owner, as the server checks it. */
export type KeptSession = z.output<typeof keptSchema>['sessions'][number];

const ending = '.sessions.json';

/**
 * The sessions of a server's owner, kept for the next server on the same port. The file has hashes only, and lies in a
 * folder that nobody else may enter.
 */
export class SessionFile {
  readonly #path: string;
  readonly #onNotice: (text: string) => void;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string, port: number, onNotice: (text: string) => void) {
    this.#path = join(folder, `${port}${ending}`);
    this.#onNotice = onNotice;
  }

  /**
   * Reads at once, so that the server knows its sessions before its first request. Empty where others could have
   * written the file.
   */
  read(): KeptSession[] {
    try {
      if (!isPrivate(dirname(this.#path))) return [];
      return keptSchema.parse(JSON.parse(readFileSync(this.#path, 'utf8'))).sessions;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') this.#onNotice(`Nobody stays signed in: ${this.#path}: ${messageOf(error)}`);
      return [];
    }
  }

  /** Resolves once they are on the disk, or the terminal has been told why not. */
  write(sessions: readonly KeptSession[]): Promise<void> {
    this.#writing = this.#writing.then(() => this.#replace(sessions));
    return this.#writing;
  }

  async #replace(sessions: readonly KeptSession[]): Promise<void> {
    try {
      await makeFolder(dirname(this.#path), privateMode);
      await writeFileAtomic(this.#path, JSON.stringify({ sessions }, null, 2));
    } catch (error) {
      this.#onNotice(
        `Browsers need a new link after a restart, because their sessions cannot be kept: ${messageOf(error)}`,
      );
    }
  }
}

/** The port of the server that kept a session last; null where none did. */
export function lastPort(folder: string): number | null {
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith(ending));
    const changed = files.map((name) => ({
      port: Number.parseInt(name, 10),
      ms: statSync(join(folder, name)).mtimeMs,
    }));
    return changed.toSorted((a, b) => b.ms - a.ms).at(0)?.port ?? null;
  } catch {
    // Any free port does as well.
    return null;
  }
}

function isPrivate(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.platform === 'win32' || (uid === process.getuid?.() && (mode & 0o077) === 0);
}
