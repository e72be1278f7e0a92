import type { CampaignWork } from './work.ts';

/** What a policy chooses for a free place. */
export type Choice<W extends CampaignWork> =
  /** Pieces of work that begin now and share the place. */
  | { kind: 'begin'; works: readonly W[] }
  /** Something else was settled: choose again. */
  | { kind: 'again' }
  /** Nothing can begin before something changes; what changes unseen is looked at after this time. */
  | { kind: 'wait'; lookAfterMs: number | null }
  | { kind: 'done' }
  /** Somebody else asks for a joint stop. */
  | { kind: 'stop' };

/** What differs between campaigns: what is next, and how much at a time. */
export interface CampaignPolicy<W extends CampaignWork> {
  /** Most places that work at a time. */
  readonly places: number;
  /** So many pieces of work in a row that fail in this process mean that none can succeed. */
  readonly mostFailures: number;
  /**
   * Chooses what begins at a free place. It notes the choice on the disk where others must not choose the same.
   * @param place from 0
   * @param active what this process works on
   */
  choose(place: number, active: ReadonlySet<W>): Promise<Choice<W>>;
  /** Called after each change: a piece of work has ended, or {@link CampaignDriver.look} was called. */
  changed?(): Promise<void>;
  /** Called after too many failures, once no more begins. What it throws also stops the work that goes on. */
  giveUp?(last: W): void;
}

/** How the work of this process on a campaign ended. */
export type CampaignEnd = 'done' | 'stopped' | 'gave up';

/** Works on a campaign in this process, until its policy has no more work or it is stopped. */
export class CampaignDriver<W extends CampaignWork> {
  readonly #policy: CampaignPolicy<W>;
  readonly #active = new Set<W>();
  readonly #free: number[];
  #request: 'stop' | 'abort' | null = null;
  #failures = 0;
  #hasGivenUp = false;
  #failure: { error: unknown } | null = null;
  #wake: () => void = () => undefined;

  constructor(policy: CampaignPolicy<W>) {
    this.#policy = policy;
    this.#free = Array.from({ length: policy.places }, (_, place) => place);
  }

  /** Lets the work of this process stop jointly, and begins no more. */
  stop(): void {
    if (this.#request !== null) return;
    this.#request = 'stop';
    for (const work of this.#active) work.stop();
    this.#wake();
  }

  /** Ends the work of this process at once. */
  abort(): void {
    this.#request = 'abort';
    for (const work of this.#active) work.abort();
    this.#wake();
  }

  /** Lets the policy choose again, because something has changed outside. */
  look(): void {
    this.#wake();
  }

  /** Stops the work of this process, and lets {@link run} throw the error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.stop();
  }

  /** @throws what the policy or a piece of work threw, once all others have stopped */
  async run(): Promise<CampaignEnd> {
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const choice = await this.#fill().catch((error: unknown) => this.#failed(error));
      if (choice?.kind === 'stop') this.stop();
      if (this.#active.size === 0 && (choice?.kind === 'stop' || choice?.kind === 'done')) return this.#end(choice);
      const lookAfterMs = choice?.kind === 'wait' ? choice.lookAfterMs : null;
      const timer = lookAfterMs === null ? undefined : setTimeout(() => this.#wake(), lookAfterMs);
      await woken;
      clearTimeout(timer);
      await this.#policy.changed?.().catch((error: unknown) => this.fail(error));
    }
  }

  #end({ kind }: Choice<W>): CampaignEnd {
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#hasGivenUp) return 'gave up';
    return kind === 'done' ? 'done' : 'stopped';
  }

  #failed(error: unknown): Choice<W> {
    this.fail(error);
    return { kind: 'stop' };
  }

  /** Begins work while there is some and a place is free. @returns why no more begins; null where no place is free */
  async #fill(): Promise<Choice<W> | null> {
    for (;;) {
      if (this.#request !== null) return { kind: 'stop' };
      if (this.#hasGivenUp) return { kind: 'done' };
      const place = this.#free.at(0);
      if (place === undefined) return null;
      const choice = await this.#policy.choose(place, this.#active);
      if (choice.kind === 'begin') this.#begin(choice.works);
      else if (choice.kind !== 'again') return choice;
    }
  }

  #begin(works: readonly W[]): void {
    const place = this.#free.shift() ?? 0;
    for (const work of works) {
      this.#active.add(work);
      // The request may have come while the policy chose.
      if (this.#request === 'abort') work.abort();
      else if (this.#request === 'stop') work.stop();
    }
    void this.#finishAll(works, place);
  }

  /** Never rejects. */
  async #finishAll(works: readonly W[], place: number): Promise<void> {
    await Promise.all(works.map((work) => this.#finish(work)));
    this.#free.push(place);
    this.#free.sort((left, right) => left - right);
    this.#wake();
  }

  async #finish(work: W): Promise<void> {
    try {
      const end = await work.finish();
      if (end !== 'left') this.#count(end === 'failed', work);
    } catch (error) {
      this.fail(error);
    }
    this.#active.delete(work);
    this.#wake();
  }

  #count(isFailed: boolean, work: W): void {
    this.#failures = isFailed ? this.#failures + 1 : 0;
    if (this.#failures < this.#policy.mostFailures) return;
    this.#hasGivenUp = true;
    this.#policy.giveUp?.(work);
  }
}
