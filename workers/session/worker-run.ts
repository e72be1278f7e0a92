import type { WorkerTask } from '../../core/protocol/run/messages.ts';
import { tf } from '../tensorflow/tf.ts';
import { Controls } from '../training/controls.ts';
import { prepare } from './prepare.ts';
import { RankLink } from './rank-link.ts';

/** Ends before its keeper or guard kills it. */
const orphanMs = 3_500;
const orphanExitCode = 3;

/** A run as one worker process takes part in it. Each rank has a separate connection, so the hub treats all ranks alike. */
export class WorkerRun {
  readonly #controls: readonly Controls[];
  #links: readonly RankLink[] = [];
  #isTraining = false;
  #isOrphan = false;

  private constructor(ranks: readonly number[]) {
    this.#controls = ranks.map((rank) => new Controls(rank));
  }

  /** Connects the ranks to their hub. */
  static async connect(task: WorkerTask, ranks: readonly number[]): Promise<WorkerRun> {
    const run = new WorkerRun(ranks);
    run.#links = await Promise.all(ranks.map((rank, position) => run.#connect(task, rank, position)));
    return run;
  }

  /** Resolves once the hub has dismissed all ranks. */
  get dismissed(): Promise<unknown> {
    return Promise.all(this.#links.map((link) => link.dismissed));
  }

  /** Trains the ranks to their end, and waits until the hub dismisses them. Exits the process if the hub dies. */
  async work(): Promise<void> {
    const links = this.#links;
    const seats = await Promise.all(links.map((link) => link.seat()));
    try {
      const prepared = await prepare(seats);
      this.#isTraining = true;
      await Promise.all(links.map((link, i) => link.train(seats[i], prepared[i])));
    } catch (error) {
      this.fail(error);
    }
    if (this.#isOrphan) process.exit(orphanExitCode);
    await this.dismissed;
  }

  /** An error of preparation, or outside of the training, concerns all ranks: the first reports it, the others report a consequence. */
  fail(error: unknown): void {
    const [first, ...others] = this.#links;
    first.fail(error);
    for (const link of others) link.fail(error, true);
  }

  /**
   * Leaves the process to the next run, as if it were new: with the project and its data, without tensors of this one.
   * @returns false if it must end, because a rank failed or left tensors
   */
  vacate(): boolean {
    if (this.#links.some(({ hasFailed }) => hasFailed)) return false;
    tf.disposeVariables();
    const { numTensors } = tf.memory();
    if (numTensors > 0) {
      console.log(`The process ends, because the run left ${numTensors} tensors. The next run starts a new one.`);
      return false;
    }
    for (const link of this.#links) link.vacate();
    return true;
  }

  #connect({ socketPath, token }: WorkerTask, rank: number, position: number): Promise<RankLink> {
    // The hub sends the same controls to every rank. The first rank's controls apply to all ranks of the process at once, so that
    // they pause at the same step.
    const receivers = position === 0 ? this.#controls : [];
    return RankLink.connect({
      socketPath,
      rank,
      token,
      controls: this.#controls[position],
      onHubGone: () => this.#onHubGone(),
      onControl: (control) => receivers.forEach((receiver) => receiver.take(control)),
      ranks: this.#controls.length,
    });
  }

  /** Ranks that train save their states, from which the run resumes. Without them there is nothing to save. */
  #onHubGone(): void {
    if (!this.#isTraining) process.exit(orphanExitCode);
    if (this.#isOrphan) return;
    this.#isOrphan = true;
    // Nobody reads what the project prints.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
    setTimeout(() => process.exit(orphanExitCode), orphanMs);
    for (const link of this.#links) link.loseHub();
  }
}
