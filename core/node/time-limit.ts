/** A timer that is later than this was not delayed by load: the process was stopped (Ctrl-Z, a sleeping laptop) in between. */
const stoppedAfterMs = 500;
/** Limits are counted in slices, so that a stop at any time is noticed. */
const longestSliceMs = 1_000;

/**
 * Calls a function once a limit has passed in which this process ran. After a stop of the process the limit starts again, since the peer
 * may have answered meanwhile, or was stopped too. Messages that wait in sockets are read before the limit counts as exceeded.
 */
export class TimeLimit {
  readonly #slices: number;
  readonly #sliceMs: number;
  readonly #exceeded: () => void;
  readonly #halfway: (() => void) | null;
  readonly #timer: NodeJS.Timeout;
  #left: number;
  #sliceStartedMs = performance.now();
  /** The turn of the event loop in which waiting messages are read. */
  #turn: NodeJS.Immediate | null = null;

  /** @param halfway called once about half of the limit has passed */
  constructor(limitMs: number, exceeded: () => void, halfway: (() => void) | null = null) {
    this.#halfway = halfway;
    this.#slices = Math.max(halfway === null ? 1 : 2, Math.ceil(limitMs / longestSliceMs));
    this.#sliceMs = limitMs / this.#slices;
    this.#left = this.#slices;
    this.#exceeded = exceeded;
    this.#timer = setTimeout(() => this.#endSlice(), this.#sliceMs).unref();
  }

  /** Starts the whole limit again. Costs little: it may be called for every message. */
  restart(): void {
    this.#left = this.#slices;
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
    this.#left -= 1;
    if (this.#left === Math.floor(this.#slices / 2)) this.#halfway?.();
    if (this.#left > 0) this.#timer.refresh();
    else this.#turn = setImmediate(() => this.#exceeded());
  }

  #cancelTurn(): void {
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#turn = null;
  }
}

/** Measures a wait of this process that it looks at every few milliseconds. It begins again after a stop of the process. */
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
