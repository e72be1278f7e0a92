import { messageOf } from '../../../core/text/errors.ts';
import type { RunRecord, RunSummary } from '../../../core/protocol/run/record.ts';
import type { RunIndex } from '../../store/index/run-index.ts';

/**
 * A run's entry in the index of runs. The index is derived from the run folders, so a failure to change it is not the
 * run's: the next command that lists runs reads the record again.
 */
export class IndexEntry {
  readonly #index: RunIndex;
  readonly #folder: string;
  readonly #tell: (problem: string) => void;
  /** Whether the last change of the index failed. */
  #isStale = false;

  /** @param tell called with the first of several failures in a row */
  constructor(index: RunIndex, folder: string, tell: (problem: string) => void) {
    this.#index = index;
    this.#folder = folder;
    this.#tell = tell;
  }

  write(record: RunRecord): void {
    this.#change(() => this.#index.upsert(record, this.#folder));
  }

  noteBest(best: NonNullable<RunSummary['best']>): void {
    this.#change(() => this.#index.noteBest(this.#folder, best));
  }

  remove(): void {
    this.#change(() => this.#index.remove(this.#folder));
  }

  #change(change: () => void): void {
    try {
      change();
      this.#isStale = false;
    } catch (error) {
      if (this.#isStale) return;
      this.#isStale = true;
      const problem = 'The list of runs does not show the present state of this run, which is not affected';
      this.#tell(`${problem}: ${messageOf(error)}`);
    }
  }
}
