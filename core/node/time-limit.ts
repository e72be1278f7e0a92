import { readdirSync, readFileSync } from 'node:fs';

/**
 * A timer that is later than this was not delayed by load: the process was stopped (Ctrl-Z, a sleeping laptop) in
 * between.
 */
const stoppedAfterMs = 500;
/** Limits are counted in slices, so that a stop at any time is noticed. */
const longestSliceMs = 1_000;

/**
 * Calls a function once a limit has passed in which this process ran. After a stop of the process the limit starts
 * again, since the peer may have answered meanwhile, or was stopped too. Messages that wait in sockets are read before
 * the limit counts as exceeded.
 */
export class TimeLimit {
  readonly #slices: number;
  readonly #sliceMs: number;
  readonly #exceeded: () => void;
  readonly #halfway: (() => void) | null;
  readonly #waitedMs: () => number;
  readonly #timer: NodeJS.Timeout;
  /** Slices that are left, without those parts in which the awaited process waited for a processor. */
  #left: number;
  #isBelowHalf = false;
  #waitedBeforeMs = 0;
  #sliceStartedMs = performance.now();
  /** The turn of the event loop in which waiting messages are read. */
  #turn: NodeJS.Immediate | null = null;

  /**
   * @param halfway called once about half of the limit has passed
   * @param waitedMs how long the awaited process was kept from computing so far ({@link ProcessorTime}), which does not
   * count
   */
  constructor(
    limitMs: number,
    exceeded: () => void,
    { halfway = null, waitedMs = () => 0 }: { halfway?: (() => void) | null; waitedMs?: () => number } = {},
  ) {
    this.#halfway = halfway;
    this.#waitedMs = waitedMs;
    this.#waitedBeforeMs = waitedMs();
    this.#slices = Math.max(halfway === null ? 1 : 2, Math.ceil(limitMs / longestSliceMs));
    this.#sliceMs = limitMs / this.#slices;
    this.#left = this.#slices;
    this.#exceeded = exceeded;
    this.#timer = setTimeout(() => this.#endSlice(), this.#sliceMs).unref();
  }

  /** Starts the whole limit again. Costs little: it may be called for every message. */
  restart(): void {
    this.#left = this.#slices;
    this.#isBelowHalf = false;
    this.#sliceStartedMs = performance.now();
    this.#cancelTurn();
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#cancelTurn();
  }

  #endSlice(): void {
    const nowMs = performance.now();
    const lateMs = nowMs - this.#sliceStartedMs - this.#sliceMs;
    if (lateMs > stoppedAfterMs) return this.restart();
    this.#sliceStartedMs = nowMs;
    this.#left -= this.#countSlice();
    if (!this.#isBelowHalf && this.#left <= Math.floor(this.#slices / 2)) {
      this.#isBelowHalf = true;
      this.#halfway?.();
    }
    if (this.#left > 0) this.#timer.refresh();
    else this.#turn = setImmediate(() => this.#exceeded());
  }

  /** The part of the last slice that counts, from 0 to 1. */
  #countSlice(): number {
    const waitedMs = this.#waitedMs();
    const share = (waitedMs - this.#waitedBeforeMs) / this.#sliceMs;
    this.#waitedBeforeMs = waitedMs;
    return 1 - Math.min(1, Math.max(0, share));
  }

  #cancelTurn(): void {
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#turn = null;
  }
}

/**
 * Measures a wait of this process that it looks at every few milliseconds. It begins again after a stop of the process.
 */
export class RunningTime {
  #sinceMs = performance.now();
  #lastMs = this.#sinceMs;

  /** Milliseconds since the beginning, the last restart or the last stop of the process. */
  read(): number {
    const nowMs = performance.now();
    if (nowMs - this.#lastMs > stoppedAfterMs) this.#sinceMs = nowMs;
    this.#lastMs = nowMs;
    return nowMs - this.#sinceMs;
  }

  restart(): void {
    this.#sinceMs = performance.now();
    this.#lastMs = this.#sinceMs;
  }
}

/**
 * How long a process and its children have computed, and have been kept from it: by other programs on the processors,
 * or by the disk. Linux counts the first two for each thread (https://docs.kernel.org/scheduler/sched-stats.html,
 * /proc/<pid>/schedstat, in ns); elsewhere both stay 0.
 */
export class ProcessorTime {
  readonly #pid: number;
  #before = new Map<string, ThreadTime>();
  #readMs = performance.now();
  #keptMs = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /**
   * Milliseconds so far in which the process was kept from computing, up to this call. What it computes counts as its
   * own time, and so does time in which all its threads sleep, as they do while a server does not answer.
   */
  readonly waitedMs = (): number => {
    const threads = threadsOf(this.#pid);
    const nowMs = performance.now();
    const passedMs = nowMs - this.#readMs;
    const sum = (time: 'computedNs' | 'waitedNs'): number =>
      threads.reduce((total, thread) => total + thread[time] - (this.#before.get(thread.path)?.[time] ?? 0), 0) / 1e6;
    // A thread may wait for a processor while another waits for this thread, so that their waits add up.
    const idleMs = threads.some(({ isReady }) => isReady) ? 0 : passedMs - sum('waitedNs');
    const ownMs = Math.min(passedMs, Math.max(idleMs, sum('computedNs')));
    if (threads.length > 0) this.#keptMs += passedMs - ownMs;
    this.#readMs = nowMs;
    this.#before = new Map(threads.map((thread) => [thread.path, thread]));
    return this.#keptMs;
  };

  /** Milliseconds so far of the threads that are there. */
  computedMs(): number {
    return threadsOf(this.#pid).reduce((sum, { computedNs }) => sum + computedNs / 1e6, 0);
  }
}

interface ThreadTime {
  path: string;
  computedNs: number;
  waitedNs: number;
  /** Whether it computes, or would if it got a processor or its data from the disk (states R and D of proc(5)). */
  isReady: boolean;
}

/** Nothing for a process that has ended, and where the system does not count. */
function threadsOf(pid: number): ThreadTime[] {
  if (process.platform !== 'linux') return [];
  const folder = `/proc/${pid}/task`;
  return (orIfEnded(() => readdirSync(folder)) ?? []).flatMap((thread) => {
    const path = `${folder}/${thread}`;
    const times = orIfEnded(() => readFileSync(`${path}/schedstat`, 'utf8'));
    if (times === null) return [];
    const [computedNs, waitedNs] = times.split(' ').map(Number);
    // The name, in parentheses, may contain anything; the state follows it.
    const isReady = /^.*\) [RD] /s.test(orIfEnded(() => readFileSync(`${path}/stat`, 'utf8')) ?? '');
    const children = orIfEnded(() => readFileSync(`${path}/children`, 'utf8')) ?? '';
    const own = { path, computedNs, waitedNs, isReady };
    return [own, ...children.split(' ').filter(Boolean).map(Number).flatMap(threadsOf)];
  });
}

/** Null for a thread that has ended meanwhile, and on a kernel without these counts. */
function orIfEnded<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
