import type { RunIndex } from '../store/index/run-index.ts';
import { readRunRecord } from '../store/runs/run-folder.ts';
import { findTarget } from './find-run.ts';
import { RemoteRun } from './remote-run.ts';

/**
 * The runs of other machines that this process follows for its pages, as `tutti attach` does one in a terminal. They
 * end with the process; the runs do not.
 */
export class RemoteRuns {
  readonly #index: RunIndex;
  readonly #onError: (error: unknown) => void;
  readonly #runs = new Map<string, RemoteRun>();
  #isClosed = false;

  /** @param onError called for a run whose copy could not be kept */
  constructor(index: RunIndex, onError: (error: unknown) => void) {
    this.#index = index;
    this.#onError = onError;
  }

  /**
   * Follows a run until it ends or is detached. If another process follows it already, that one continues to.
   * @param run `user@login:run`, or a run that was followed before
   * @param home Tutti's home there; null: as the shell there has it
   * @returns the id of the copy @throws Error with the reason and the remedy if it cannot be followed
   */
  async attach(run: string, home: string | null): Promise<{ id: string }> {
    const target = await findTarget(this.#index, run, home);
    if (target === null) throw new Error(`The run ${run} is here, or is followed already.`);
    const index = this.#index;
    // The record of the copy says when the link breaks.
    const opened = await RemoteRun.open(target, { home: target.home, index, mayAsk: false, say: () => undefined });
    if (typeof opened === 'string') return { id: (await readRunRecord(opened)).id };
    this.#runs.set(opened.id, opened);
    void opened.kept.catch(this.#onError).then(() => this.#leave(opened.id).catch(this.#onError));
    if (this.#isClosed) await this.#leave(opened.id);
    return { id: opened.id };
  }

  /** Follows a run no longer; it trains on. @throws Error if this process does not follow it */
  async detach(id: string): Promise<void> {
    if (this.#runs.has(id)) return this.#leave(id);
    throw new Error(
      `This process does not follow the run ${id}. If \`tutti attach\` does in a terminal, press q there.`,
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#runs.keys()].map((id) => this.#leave(id)));
  }

  async #leave(id: string): Promise<void> {
    const run = this.#runs.get(id);
    // Its end is noticed twice when it is left.
    if (run === undefined) return;
    this.#runs.delete(id);
    await run.close();
  }
}
