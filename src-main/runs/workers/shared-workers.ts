import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { Grant } from '../../processes/confined.ts';
import type { LogFile } from '../recording/log-file.ts';
import { WorkerChild, type WorkerChildOptions } from './worker-child.ts';
import type { RankProcess } from './worker-process.ts';

/** What a run's ranks need of a process. */
export interface WorkerRequest {
  /** All on one device. */
  placements: readonly Placement[];
  socketPath: string;
  token: string;
  grant: Grant;
}

/** A process as it is shared: `WorkerChild`, or one of a test. */
export type CommonProcess = Pick<WorkerChild, 'pid' | 'ended' | 'waitedMs' | 'begin' | 'kill' | 'addLogs'>;

/** Time that an abandoned run has to end by itself before its process is killed. */
const abandonMs = 3_000;

/**
 * Runs that start their processes together: once all runs that have a seat have asked for a process, one process starts
 * for all of them. A run that has nothing more to train leaves its seat.
 */
export class SharedWorkers {
  readonly #seats = new Set<WorkerSeat>();
  readonly #start: (options: WorkerChildOptions) => CommonProcess;

  constructor(start: (options: WorkerChildOptions) => CommonProcess = (options) => new WorkerChild(options)) {
    this.#start = start;
  }

  /** A seat for one run after the other. All seats must be taken before any run asks for a process. */
  seat(): WorkerSeat {
    const seat = new WorkerSeat(() => this.#startIfAll());
    this.#seats.add(seat);
    return seat;
  }

  #startIfAll(): void {
    const seats = [...this.#seats].filter(({ hasLeft }) => !hasLeft);
    const requests = seats.map(({ request }) => request).filter((request) => request !== null);
    if (requests.length < seats.length || requests.length === 0) return;
    // A process computes on one device.
    for (const group of Map.groupBy(seats, ({ request }) => request?.placements[0].device.id).values())
      this.#startFor(group);
  }

  #startFor(seats: readonly WorkerSeat[]): void {
    const requests = seats.map(({ request }) => request).filter((request) => request !== null);
    const placements = requests.flatMap((request) => request.placements);
    const grant = commonGrant(requests.map((request) => request.grant));
    const process = this.#start({ placements, core: null, grant, isStaying: false });
    const parts = requests.map((request) => new SharedProcess(process, request.placements.length));
    const runs = requests.map(({ socketPath, token, placements: own }) => ({
      socketPath,
      token,
      ranks: own.map(({ rank }) => rank),
    }));
    process.begin({ runs }, []);
    for (const part of parts) part.watch(parts);
    seats.forEach((seat, i) => seat.take(parts[i]));
  }
}

/** The place of a run, and of those that follow it, in the processes of {@link SharedWorkers}. */
export class WorkerSeat {
  readonly #changed: () => void;
  #waiting: { request: WorkerRequest; resolve: (part: SharedProcess | null) => void } | null = null;
  #hasLeft = false;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get request(): WorkerRequest | null {
    return this.#waiting?.request ?? null;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Resolves with the run's part of a process once all seats have asked for one, or with null after an abort. */
  ask(request: WorkerRequest, signal: AbortSignal): Promise<SharedProcess | null> {
    if (signal.aborted) return Promise.resolve(null);
    const { promise, resolve } = Promise.withResolvers<SharedProcess | null>();
    this.#waiting = { request, resolve };
    signal.addEventListener('abort', () => this.take(null), { once: true });
    this.#changed();
    return promise;
  }

  /** Answers the run that waits. */
  take(part: SharedProcess | null): void {
    this.#waiting?.resolve(part);
    this.#waiting = null;
  }

  /** The others no longer wait for this seat. */
  leave(): void {
    this.#hasLeft = true;
    this.take(null);
    this.#changed();
  }
}

/**
 * The part of a process that trains one run's ranks. It ends when the process does, or when the ranks have left it,
 * because they have trained or were given up.
 */
export class SharedProcess implements RankProcess {
  readonly ended: Promise<string>;
  readonly #process: CommonProcess;
  readonly #ranks: number;
  readonly #leaving: (() => void)[] = [];
  readonly #left = Promise.withResolvers<string>();
  #others: readonly SharedProcess[] = [];
  #isOver = false;
  #isGivenUp = false;
  #vacated = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param ranks of the run */
  constructor(process: CommonProcess, ranks: number) {
    this.#process = process;
    this.#ranks = ranks;
    this.ended = Promise.race([process.ended, this.#left.promise]);
    void this.ended.finally(() => {
      this.#isOver = true;
      if (this.#timer !== null) clearTimeout(this.#timer);
      if (this.#others.every((part) => part.#isOver)) this.#endProcess();
    });
  }

  /** It exits by itself once no run needs it. */
  #endProcess(): void {
    const timer = setTimeout(() => this.#process.kill(), abandonMs);
    void this.#process.ended.finally(() => clearTimeout(timer));
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  get waitedMs(): () => number {
    return this.#process.waitedMs;
  }

  /** @param parts all parts of the process */
  watch(parts: readonly SharedProcess[]): void {
    this.#others = parts.filter((part) => part !== this);
  }

  addLogs(logs: readonly LogFile[]): void {
    this.#process.addLogs(logs);
  }

  leave(dismiss: () => void): void {
    this.#leaving.push(dismiss);
    if (this.#leaving.length === this.#ranks) for (const call of this.#leaving) call();
  }

  /** Kills the process where no other run needs it, and else once the ranks do not end by themselves. */
  kill(abandon: () => void): void {
    if (this.#isOver) return;
    this.#isGivenUp = true;
    abandon();
    if (this.#others.every((part) => part.#isOver || part.#isGivenUp)) return this.#process.kill();
    this.#timer ??= setTimeout(() => this.#process.kill(), abandonMs);
  }

  vacate(): void {
    this.#vacated += 1;
    if (this.#vacated === this.#ranks) this.#left.resolve('left its process');
  }
}

/** What all of them need: all runs are of one project. */
function commonGrant(grants: readonly Grant[]): Grant {
  const limits = grants.map(({ memoryBytes }) => memoryBytes);
  return {
    ...grants[0],
    read: [...new Set(grants.flatMap(({ read }) => read))],
    write: [...new Set(grants.flatMap(({ write }) => write))],
    memoryBytes: limits.reduce((most, limit) => (most === null || limit === null ? null : Math.max(most, limit))),
  };
}
