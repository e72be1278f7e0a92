import type { Question, StandingProcess } from './standing-process.ts';

/** A process without questions ends after this time. */
export const idleMs = 300_000;

/** The part of a standing process that a `WarmProcess` uses. */
export type Standing = Pick<StandingProcess, 'isRunning' | 'ask' | 'end'>;

/**
 * Keeps the process that answered last for further questions about the same subject, which then need not load it again.
 * Questions come one after the other. Only one process is kept, because the subjects of several could fill the memory.
 */
export class WarmProcess {
  #key = '';
  #process: Standing | null = null;
  #idle: NodeJS.Timeout | null = null;

  /**
   * Asks the kept process if its key is the same, else a new one.
   * @param key names what the process has loaded; a change of that is another key
   * @throws Error if the process ends without an answer
   */
  async ask<Answer extends object>(key: string, start: () => Standing, question: Question): Promise<Answer> {
    this.#stopWaiting();
    let process = this.#process;
    if (process === null || this.#key !== key || !process.isRunning) {
      this.end();
      process = start();
      this.#process = process;
      this.#key = key;
    }
    try {
      return await process.ask<Answer>(question);
    } finally {
      this.#idle = setTimeout(() => this.end(), idleMs).unref();
    }
  }

  /** Ends the process. */
  end(): void {
    this.#stopWaiting();
    this.#process?.end();
    this.#process = null;
  }

  #stopWaiting(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
  }
}
