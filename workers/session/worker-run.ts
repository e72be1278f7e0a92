import type { Control, TaskRun, WorkerTask } from '../../core/protocol/run/messages.ts';
import { tf } from '../tensorflow/tf.ts';
import {
  buildRun,
  type BuiltRun,
  lossOf,
  type Prepared,
  prepareRank,
  ranksOf,
  type Seat,
} from './preparation/prepare.ts';
import { Generator, installAsMathRandom } from '../random/index.ts';
import { commonStacks, requireStackable, type StackOfRun } from '../stacked/common-stacks.ts';
import { layersByMember } from '../stacked/stacked-layers.ts';
import { Controls, Throttle } from '../training/controls.ts';
import { RankLink } from './rank-link.ts';

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

/**
 * Prepares all ranks of this process: project, backend, seeds, data, models, trainers. A run that cannot be prepared
 * leaves the others as they are.
 * @param runs the ranks of each run
 */
async function prepareRuns(runs: readonly (readonly Seat[])[]): Promise<PromiseSettledResult<Prepared[]>[]> {
  const built: PromiseSettledResult<BuiltRun>[] = [];
  // One after the other: data() and model() draw from the only Math.random of the process.
  for (const seats of runs) built.push(...(await Promise.allSettled([build(seats, runs[0][0])])));
  const stacked = built.flatMap((run) => (run.status === 'fulfilled' && isStacked(run.value) ? [run.value] : []));
  const ofRuns = commonStacks(stacked.map(stackableOf));
  const stacks = new Map(stacked.map((run, i) => [run, ofRuns[i]]));
  // Draws that belong to no rank must not move the stream of a rank of another run.
  if (runs.length > 1) installAsMathRandom(new Generator(0, 'no rank'));
  const throttle = new Throttle();
  return Promise.allSettled(
    built.map((run) => {
      if (run.status === 'rejected') return Promise.reject(run.reason as Error);
      return prepareMembers(run.value, stacks.get(run.value) ?? null, throttle);
    }),
  );
}

async function build(seats: readonly Seat[], first: Seat): Promise<BuiltRun> {
  requireSameBackend(first, seats[0]);
  const built = await buildRun(seats);
  const models = built.members.map(({ member }) => member.model);
  if (isStacked(built)) requireStackable(models, ranksOf(seats));
  return built;
}

/** A process has one backend. @throws Error for a run that computes with other options than the first one */
function requireSameBackend(first: Seat, other: Seat): void {
  const [expected, own] = [first, other].map(({ launch: { config, blas, placement } }) =>
    JSON.stringify({ backend: config.backend, determinism: config.determinism, blas, threads: placement.threads }),
  );
  if (own === expected) return;
  throw new Error(
    `This run computes with ${own}, and another one in its process with ${expected}: a process has one backend. Do ` +
      'not search these options, or use --trials-per-worker 1.',
  );
}

/**
 * A rank with a stack in its placement is computed in one also if it is alone, because bits differ otherwise. Where
 * workers are chosen by measurement, models of which a stack runs some layers member by member always train apart.
 */
function isStacked({ seats, members: [{ member }, ...others] }: BuiltRun): boolean {
  const { config, placement } = seats[0].launch;
  if (others.length > 0) return true;
  if (placement.stack === undefined) return false;
  return config.membersPerDevice !== 'auto' || layersByMember(member.model).length === 0;
}

function stackableOf({ shared, members }: BuiltRun) {
  const { config, project, task, data } = shared;
  return {
    config,
    project,
    task,
    loss: lossOf(shared),
    members: members.map(({ member }) => member),
    samples: data.train.length,
  };
}

/** If one of a run's ranks cannot be prepared, all leave their stack: others would wait for them. */
async function prepareMembers(built: BuiltRun, of: StackOfRun | null, throttle: Throttle): Promise<Prepared[]> {
  const { seats, shared, members, seeders } = built;
  const places = seeders.map(({ draw }) => of?.stack.join(draw, of.run) ?? null);
  try {
    return await Promise.all(
      seats.map((seat, i) =>
        prepareRank(seat, shared, { ...members[i], seeder: seeders[i], place: places[i], throttle }),
      ),
    );
  } catch (error) {
    for (const place of places) place?.leave();
    throw error;
  }
}

/**
 * A run as one worker process takes part in it. Each rank has a separate connection, so the hub treats all ranks alike.
 */
class RunLinks {
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

  /**
   * An error of preparation, or outside of the training, concerns all ranks: the first reports it, the others report a
   * consequence.
   */
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

  /**
   * The hub sends the same controls to every rank. The first rank's apply to all ranks of the run at once, so that they
   * pause at the same step.
   */
  #control(control: Control, position: number): void {
    if (position === 0) for (const receiver of this.#controls) receiver.take(control);
  }
}
