/** A page that crashes more often than this within the time would crash again. */
const maximumCrashes = 3;
const periodMs = 60_000;

/** Counts the crashes of a page. */
export class CrashCount {
  #timesMs: number[] = [];

  /** Counts one crash. @param nowMs on any clock that never goes back @returns whether there were more than three within a minute */
  isTooOften(nowMs: number): boolean {
    this.#timesMs = [...this.#timesMs.filter((timeMs) => nowMs - timeMs < periodMs), nowMs];
    return this.#timesMs.length > maximumCrashes;
  }
}
