import type { TrainingWork } from '../hub/training-work.ts';

/** What works on a campaign: a sweep, a study or a discovery. */
interface Campaign {
  run(): Promise<unknown>;
  stop(): void;
  abort(): void;
}

/**
 * The campaigns of one kind that this process works on for pages, by their ids. They go on whether or not a page shows
 * them, and end with the process.
 */
export class OwnCampaigns {
  readonly #training: TrainingWork;
  readonly #changed: (id: string) => void;
  readonly #own = new Map<string, { campaign: Campaign; ended: Promise<void> }>();

  /**
   * @param training counts them
   * @param changed called when the work on one begins or has ended
   */
  constructor(training: TrainingWork, changed: (id: string) => void = () => undefined) {
    this.#training = training;
    this.#changed = changed;
  }

  get size(): number {
    return this.#own.size;
  }

  has(id: string): boolean {
    return this.#own.has(id);
  }

  /**
   * Begins to work on a campaign. Resolves once the work has ended, in any way.
   * @param failed called with what ended the work before its time
   */
  begin(id: string, campaign: Campaign, failed: (error: unknown) => void): Promise<void> {
    const endWork = this.#training.begin();
    const ended = campaign
      .run()
      .then(() => undefined, failed)
      .finally(() => {
        this.#own.delete(id);
        endWork();
        this.#changed(id);
      });
    this.#own.set(id, { campaign, ended });
    this.#changed(id);
    return ended;
  }

  /** Lets a campaign stop jointly. Resolves once it has. */
  async stop(id: string): Promise<void> {
    const own = this.#own.get(id);
    own?.campaign.stop();
    await own?.ended;
  }

  /** Ends the runs of this process at once. They continue from their states once their campaigns do. */
  async close(): Promise<void> {
    for (const { campaign } of this.#own.values()) campaign.abort();
    await Promise.all([...this.#own.values()].map(({ ended }) => ended));
  }
}
