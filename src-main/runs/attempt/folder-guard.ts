import type { FileLock } from '../../../core/node/file-lock.ts';

const lookEveryMs = 1_000;

/** Looks once a second whether the folder of a run that trains is still in its place. */
export class FolderGuard {
  readonly #lock: FileLock;
  readonly #lost: () => void;
  readonly #timer: NodeJS.Timeout;
  #isLost = false;

  /**
   * @param lock a lock in the folder
   * @param lost called once, when the folder is gone
   */
  constructor(lock: FileLock, lost: () => void) {
    this.#lock = lock;
    this.#lost = lost;
    this.#timer = setInterval(() => void this.#look(), lookEveryMs).unref();
  }

  /** Looks for the last time. @returns whether the folder is gone */
  async stop(): Promise<boolean> {
    clearInterval(this.#timer);
    await this.#look();
    return this.#isLost;
  }

  async #look(): Promise<void> {
    if (this.#isLost || (await this.#lock.isInPlace())) return;
    if (this.#isLost) return;
    this.#isLost = true;
    clearInterval(this.#timer);
    this.#lost();
  }
}
