import { memoryKills } from '../../processes/memory-kills.ts';
import type { LineSink } from '../../processes/output-lines.ts';

/** What V8 prints before it aborts a process whose heap is full, or which the system gives no more memory. */
const memoryIsFull = /FATAL ERROR: .*(heap limit|out of memory|Allocation failed)/i;

/**
 * Finds out why a worker process ended, from its exit, from what it printed, and from the kernel's counter of
 * out-of-memory kills.
 */
export class ProcessEnd implements LineSink {
  readonly #countKills: () => number | null;
  readonly #killsBefore: number | null;
  #isMemoryFull = false;

  constructor(countKills: () => number | null = memoryKills) {
    this.#countKills = countKills;
    this.#killsBefore = countKills();
  }

  /** Takes every line that the process prints. */
  write(line: string): void {
    this.#isMemoryFull ||= memoryIsFull.test(line);
  }

  async drained(): Promise<void> {}

  /** The end of a sentence: `was killed by SIGKILL`, `exited with code 1`, `ran out of memory: ...`. */
  describe(code: number | null, signal: NodeJS.Signals | null): string {
    if (this.#isMemoryFull && code !== 0) {
      return (
        "ran out of memory: JavaScript's heap reached its limit. Keep data in typed arrays, which lie outside " +
        'it, keep less, or raise memoryLimitBytes'
      );
    }
    if (signal === null) return `exited with code ${code}`;
    const killed = `was killed by ${signal}`;
    if (signal !== 'SIGKILL' || !this.#hasKernelKilled()) return killed;
    return (
      `${killed} when memory ran out: the kernel's out-of-memory killer ended a process meanwhile. Use fewer ` +
      'members at a time or smaller batches'
    );
  }

  #hasKernelKilled(): boolean {
    const kills = this.#countKills();
    return kills !== null && this.#killsBefore !== null && kills > this.#killsBefore;
  }
}
