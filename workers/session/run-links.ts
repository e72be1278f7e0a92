import type { Control, TaskRun } from '../../core/protocol/run/messages.ts';
import { Controls } from '../training/controls.ts';
import type { Prepared, Seat } from './preparation/prepare.ts';
import { RankLink } from './rank-link.ts';

/** A run as one worker process takes part in it. Each rank has a separate connection, so the hub treats all ranks alike. */
export class RunLinks {
  readonly #controls: readonly Controls[];
  readonly #lost: () => void;
  #links: readonly RankLink[] = [];
  #isLost = false;

  /** @param lost called once the run's hub is gone or has given the ranks up */
  private constructor({ ranks }: TaskRun, lost: () => void) {
    this.#controls = ranks.map((rank) => new Controls(rank));
    this.#lost = lost;
  }

  /** Connects the ranks to their hub. @param ranksHere of all runs of the process */
  static async connect(run: TaskRun, ranksHere: number, lost: () => void): Promise<RunLinks> {
    const links = new RunLinks(run, lost);
    links.#links = await Promise.all(
      run.ranks.map((rank, position) =>
        RankLink.connect({
          socketPath: run.socketPath,
          rank,
          token: run.token,
          controls: links.#controls[position],
          onHubGone: () => links.#lose(),
          onControl: (control) => links.#control(control, position),
          ranks: ranksHere,
        }),
      ),
    );
    return links;
  }

  /** Resolves once all ranks have been launched. */
  seats(): Promise<Seat[]> {
    return Promise.all(this.#links.map((link) => link.seat()));
  }

  /** Trains the ranks to their ends, and reports the outcomes. Never rejects. */
  async train(prepared: readonly Prepared[]): Promise<void> {
    await Promise.all(this.#links.map((link, i) => link.train(prepared[i])));
  }

  /** An error of preparation, or outside of the training, concerns all ranks: the first reports it, the others report a consequence. */
  fail(error: unknown): void {
    const [first, ...others] = this.#links;
    first.fail(error);
    for (const link of others) link.fail(error, true);
  }

  /** Whether the run's hub is gone or has given the ranks up. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get hasFailed(): boolean {
    return this.#links.some(({ hasFailed }) => hasFailed);
  }

  /** Resolves once the hub needs none of the ranks any more, or is gone. */
  async dismissed(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.dismissed));
  }

  /** Tells the hub that the process no longer takes part in the run. */
  vacate(): void {
    for (const link of this.#links) link.vacate();
  }

  /** Ranks that train save their states, from which the run resumes. */
  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#lost();
    for (const link of this.#links) link.loseHub();
  }

  /** The hub sends the same controls to every rank. The first rank's apply to all ranks of the run at once, so that they pause at the same step. */
  #control(control: Control, position: number): void {
    if (position === 0) for (const receiver of this.#controls) receiver.take(control);
  }
}
