import type { RunRecord } from '../../core/protocol/run/record.ts';
import type { RunSession } from '../runs/attempt/run-session.ts';

/**
 * A piece of work of a campaign. A campaign trains runs by a policy: the queue, a sweep, a study or a discovery.
 * Its pieces are the start of a waiting run, a run of a sweep, a trial, or a round.
 */
export interface CampaignWork {
  /**
   * Carries it out. `left`: it was given back, or others have done it.
   * @throws Error if the whole campaign cannot go on, because its files cannot be written, for instance
   */
  finish(): Promise<'done' | 'failed' | 'left'>;
  /** Lets its runs stop jointly, with states from which they continue. */
  stop(): void;
  /** Ends its runs at once. */
  abort(): void;
}

/** A run of a campaign, which may be asked to stop before it has a session. */
export class CampaignRun {
  #session: RunSession | null = null;
  #request: 'stop' | 'abort' | null = null;

  /** Whether it was asked to end. */
  get isAsked(): boolean {
    return this.#request !== null;
  }

  stop(): void {
    this.#request ??= 'stop';
    this.#obey();
  }

  abort(): void {
    this.#request = 'abort';
    this.#obey();
  }

  /**
   * Trains it to its end.
   * @throws as {@link RunSession.run} does
   */
  async train(session: RunSession): Promise<RunRecord> {
    this.#session = session;
    const ended = session.run();
    this.#obey();
    return ended;
  }

  #obey(): void {
    if (this.#request === 'abort') this.#session?.abort();
    else if (this.#request === 'stop') this.#session?.control({ action: 'stop' });
  }
}
