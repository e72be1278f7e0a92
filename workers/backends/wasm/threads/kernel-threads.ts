import { ownModule } from '../../../system/own-copies.ts';
import { OwnThread } from '../../../system/own-threads.ts';
import type { LoadedModule } from '../kernel-module.ts';
import type { TensorMemory } from '../memory/tensor-memory.ts';
import { createJob, type Job, type Kernel, runParts } from './job.ts';
import { type Place, type Rule, rules } from './spread.ts';

/** What a thread is given (`entries/kernel-thread.ts`). */
export interface KernelThreadData {
  readonly job: Job;
  readonly memory: WebAssembly.Memory;
  readonly modules: readonly WebAssembly.Module[];
}

/** All kernels of some modules, in one order for all threads. */
export function listKernels(instances: readonly object[]): Kernel[] {
  return instances.flatMap((exports) => Object.values(exports) as Kernel[]);
}

/** At least the size of a `Window`. */
const windowBytes = 128;

/** Threads that take part in large kernels of this process, in its memory. They sleep between kernels. */
export class KernelThreads {
  readonly #job = createJob();
  readonly #kernels: Kernel[];
  readonly #place: Place;
  /** Null once they were started. */
  #data: KernelThreadData | null;

  /** @param threads 2 to 128, this one included. The others start at the first large kernel. */
  constructor(threads: number, memory: TensorMemory, loaded: readonly LoadedModule<object>[]) {
    this.#kernels = listKernels(loaded.map(({ exports }) => exports));
    const allocate = (bytes: number) => Array.from({ length: threads }, () => memory.allocate(bytes));
    this.#place = { threads, memory, scratch: allocate(scratchBytes(loaded)), windows: allocate(windowBytes) };
    this.#data = { job: this.#job, memory: memory.wasmMemory, modules: loaded.map(({ module }) => module) };
  }

  /** The exports of one of the modules, whose large calls run on all threads. */
  spread<Exports extends object>(exports: Exports): Exports {
    const spread = Object.entries(exports).map(([name, kernel]) => {
      const rule = (rules as Record<string, Rule | undefined>)[name];
      return [name, rule === undefined ? kernel : this.#divide(kernel as Kernel, rule)];
    });
    return Object.fromEntries(spread) as Exports;
  }

  /** This thread computes all parts until the others are there. An error of one of them ends the process. */
  #start(workerData: KernelThreadData): void {
    this.#data = null;
    const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };
    for (let i = 1; i < this.#place.threads; i++) {
      const thread = new OwnThread(new URL(ownModule('entries/kernel-thread')), {
        workerData,
        resourceLimits,
        execArgv: [],
      });
      // The process may end although its threads wait for work.
      thread.unref();
    }
  }

  #divide(kernel: Kernel, rule: Rule): Kernel {
    const number = this.#kernels.indexOf(kernel);
    return (...values) => {
      const parts = rule(values, this.#place);
      if (parts === null || parts.length < 2) return kernel(...values);
      if (this.#data !== null) this.#start(this.#data);
      runParts(this.#job, this.#kernels, number, parts);
    };
  }
}

/** As much as a kernel of any module needs. */
function scratchBytes(loaded: readonly LoadedModule<object>[]): number {
  const sizes = loaded.map(({ exports }) =>
    'gemmScratchBytes' in exports ? Number((exports.gemmScratchBytes as Kernel)()) : 0,
  );
  return Math.max(...sizes);
}
