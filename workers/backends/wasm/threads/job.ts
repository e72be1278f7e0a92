/** An export of one of the modules in `workers/kernels`. */
export type Kernel = (...values: number[]) => number | void;

/** The most parts of a job, and the most arguments of a kernel. */
const mostParts = 128;
const mostArguments = 32;

/**
 * The job at hand: one kernel, called once for each part with other arguments. It lies in memory that the threads of a
 * process share. The ticket holds the number of parts (`ticket >> 8`) and the next one to take (`ticket & 255`), so
 * that a thread takes a part by one exchange of this number; a job is written only when all parts of the one before it
 * are done.
 */
export interface Job {
  readonly state: Int32Array<SharedArrayBuffer>;
  readonly parts: Float64Array<SharedArrayBuffer>;
}

/** Places in `state`. */
const ticketAt = 0;
const doneAt = 1;
const kernelAt = 2;
const lengthAt = 3;
const failedAt = 4;

/**
 * How often a thread looks before it sleeps: for about 20 µs, in which the next kernel of a training step mostly comes.
 * Waking a thread takes longer.
 */
const looks = 3000;

export function createJob(): Job {
  return {
    state: new Int32Array(new SharedArrayBuffer(64)),
    parts: new Float64Array(new SharedArrayBuffer(8 * mostParts * mostArguments)),
  };
}

/**
 * Calls a kernel with the arguments of each part, on all threads that are free, and returns when all are done.
 * @throws Error if a kernel fails, which only wrong arguments can cause
 */
export function runParts(job: Job, kernels: readonly Kernel[], kernel: number, parts: readonly number[][]): void {
  const { state } = job;
  state[kernelAt] = kernel;
  state[lengthAt] = parts[0].length;
  parts.forEach((values, i) => job.parts.set(values, i * mostArguments));
  Atomics.store(state, doneAt, 0);
  Atomics.store(state, ticketAt, parts.length << 8);
  Atomics.notify(state, ticketAt, parts.length - 1);
  takeParts(job, kernels);
  for (let done = waitWhile(state, doneAt, 0); done < parts.length;) done = waitWhile(state, doneAt, done);
  if (Atomics.exchange(state, failedAt, 0) !== 0) throw new Error(`The kernel ${kernel} failed in a thread.`);
}

/** Takes part in all jobs to come. Never returns. */
export function takePartForever(job: Job, kernels: readonly Kernel[]): never {
  for (;;) waitWhile(job.state, ticketAt, takeParts(job, kernels));
}

/** Computes parts until none is left. Returns the ticket that said so. */
function takeParts({ state, parts }: Job, kernels: readonly Kernel[]): number {
  for (;;) {
    const ticket = Atomics.load(state, ticketAt);
    const [count, part] = [ticket >> 8, ticket & 255];
    if (part === count) return ticket;
    if (Atomics.compareExchange(state, ticketAt, ticket, ticket + 1) !== ticket) continue;
    const from = part * mostArguments;
    try {
      kernels[state[kernelAt]](...parts.subarray(from, from + state[lengthAt]));
    } catch {
      // The thread that began the job throws: see `runParts`.
      Atomics.store(state, failedAt, 1);
    }
    if (Atomics.add(state, doneAt, 1) + 1 === count) Atomics.notify(state, doneAt);
  }
}

/** Waits until a value is another one than `known`, and returns it. */
function waitWhile(state: Int32Array<SharedArrayBuffer>, at: number, known: number): number {
  for (let i = 0; i < looks; i++) {
    const value = Atomics.load(state, at);
    if (value !== known) return value;
  }
  Atomics.wait(state, at, known);
  return Atomics.load(state, at);
}
