import { TimeLimit } from '../../../core/node/time-limit.ts';

/** Until the configuration of a run says otherwise. */
export const firstHeartbeatMs = 30_000;

/**
 * A peer on another node: sends it a sign of life several times within the limit, and notices when none comes from it.
 */
export class Heartbeat {
  readonly #beat: () => void;
  readonly #lost: (limitMs: number) => void;
  #limitMs = firstHeartbeatMs;
  #limit: TimeLimit;
  #timer: NodeJS.Timeout;

  /** @param lost called once, when nothing has come for the limit */
  constructor(beat: () => void, lost: (limitMs: number) => void) {
    this.#beat = beat;
    this.#lost = lost;
    this.#limit = this.#count();
    this.#timer = this.#repeat();
  }

  /** Something came from the peer. */
  heard(): void {
    this.#limit.restart();
  }

  settle(limitMs: number): void {
    this.stop();
    this.#limitMs = limitMs;
    this.#limit = this.#count();
    this.#timer = this.#repeat();
    this.#beat();
  }

  stop(): void {
    this.#limit.stop();
    clearInterval(this.#timer);
  }

  #count(): TimeLimit {
    return new TimeLimit(this.#limitMs, () => this.#lost(this.#limitMs));
  }

  #repeat(): NodeJS.Timeout {
    return setInterval(this.#beat, this.#limitMs / 4).unref();
  }
}
