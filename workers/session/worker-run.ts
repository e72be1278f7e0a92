import type { WorkerTask } from '../../core/protocol/run/messages.ts';
import { tf } from '../tensorflow/tf.ts';
import { prepareRuns } from './preparation/prepare-runs.ts';
import type { Prepared } from './preparation/prepare.ts';
import { RunLinks } from './run-links.ts';

/** Ends before its keeper or guard kills it. */
const orphanMs = 3_500;
const orphanExitCode = 3;

/** What a worker process does for one task: it takes part in a run, or in several at a time. */
export class WorkerRun {
  readonly #count: number;
  #runs: readonly RunLinks[] = [];
  #isTraining = false;
  /** Runs whose hub is gone, or has given them up. */
  #lost = 0;

  private constructor({ runs }: WorkerTask) {
    this.#count = runs.length;
  }

  /** Connects the ranks to their hubs. A run that has ended meanwhile has no hub any more. @throws Error if none has */
  static async connect(task: WorkerTask): Promise<WorkerRun> {
    const own = new WorkerRun(task);
    const ranksHere = task.runs.reduce((sum, { ranks }) => sum + ranks.length, 0);
    const all = await Promise.allSettled(
      task.runs.map((run) => RunLinks.connect(run, ranksHere, () => own.#loseRun())),
    );
    own.#runs = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const [failed] = all.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    if (own.#runs.length === 0) throw failed;
    own.#lost += task.runs.length - own.#runs.length;
    return own;
  }

  /** Resolves once the hubs have dismissed all ranks. */
  get dismissed(): Promise<unknown> {
    return Promise.all(this.#runs.map((run) => run.dismissed()));
  }

  /** Trains the ranks to their end, and waits until the hubs dismiss them. Exits the process if they die. */
  async work(): Promise<void> {
    const launched = await Promise.allSettled(this.#runs.map((run) => run.seats()));
    const present = this.#runs.filter((_, i) => launched[i].status === 'fulfilled');
    const refused = launched.map((one, i) => (one.status === 'rejected' ? this.#refuse(this.#runs[i], one) : null));
    const seats = launched.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const trained = prepareRuns(seats).then((prepared) => {
      this.#isTraining = true;
      return Promise.all(present.map((run, i) => this.#train(run, prepared[i])));
    });
    await Promise.all([trained, ...refused]);
    if (this.#isOrphan) process.exit(orphanExitCode);
  }

  /** An error that belongs to none of the runs. */
  fail(error: unknown): void {
    for (const run of this.#runs) run.fail(error);
  }

  /**
   * Leaves the process to the next task, as if it were new: with the project and its data, without tensors of this one.
   * @returns false if it must end, because a rank failed or left tensors
   */
  vacate(): boolean {
    if (this.#runs.some(({ hasFailed }) => hasFailed)) return false;
    tf.disposeVariables();
    const { numTensors } = tf.memory();
    if (numTensors > 0) {
      console.log(`The process ends, because the run left ${numTensors} tensors. The next run starts a new one.`);
      return false;
    }
    for (const run of this.#runs) run.vacate();
    return true;
  }

  get #isOrphan(): boolean {
    return this.#lost === this.#count;
  }

  /** Leaves a run that ended before its ranks were launched, or in which they cannot take part. */
  async #refuse(run: RunLinks, refusal: PromiseRejectedResult): Promise<void> {
    if (run.isLost) run.vacate();
    else await this.#train(run, refusal);
  }

  /** Trains a run, and leaves it where the process goes on for others. */
  async #train(run: RunLinks, prepared: PromiseSettledResult<Prepared[]>): Promise<void> {
    if (prepared.status === 'rejected') run.fail(prepared.reason);
    else await run.train(prepared.value);
    if (this.#isOrphan) return;
    await run.dismissed();
    if (this.#count > 1) run.vacate();
  }

  /** Without ranks that train there is nothing to save. */
  #loseRun(): void {
    this.#lost += 1;
    if (!this.#isOrphan) return;
    if (!this.#isTraining) process.exit(orphanExitCode);
    // Nobody reads what the project prints.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
    setTimeout(() => process.exit(orphanExitCode), orphanMs);
  }
}
