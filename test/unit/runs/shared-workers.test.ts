import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Grant } from '../../../src-main/processes/confined.ts';
import {
  type CommonProcess,
  SharedWorkers,
  type WorkerRequest,
  type WorkerSeat,
} from '../../../src-main/runs/workers/shared-workers.ts';
import type { WorkerTask } from '../../../core/protocol/run/messages.ts';
import type { WorkerChildOptions } from '../../../src-main/runs/workers/worker-child.ts';

const device = {
  id: 'cpu:0',
  kind: 'cpu',
  index: 0,
  name: 'A core',
  memoryTotalBytes: null,
  memoryUsedBytes: null,
  load: null,
  processCount: null,
} as const;

function grantOn(folder: string, memoryBytes: number | null): Grant {
  const none = { network: false, processes: false, environment: [], compileCache: '/cache' };
  return { ...none, read: ['/project', folder], write: [folder], memoryBytes };
}

const requestOf = (name: string, ranks = [0]): WorkerRequest => ({
  placements: ranks.map((rank) => ({ rank, wave: 0, device, stack: 0 })),
  socketPath: `/${name}.sock`,
  token: name,
  grant: grantOn(`/runs/${name}`, name === 'a' ? 100 : 200),
});

/** A process in memory, with what it was started with and what was asked of it. */
class FakeProcess implements CommonProcess {
  readonly pid = 4711;
  readonly options: WorkerChildOptions;
  tasks: WorkerTask[] = [];
  readonly #end = Promise.withResolvers<string>();
  readonly ended = this.#end.promise;
  readonly waitedMs = (): number => 0;
  kills = 0;

  constructor(options: WorkerChildOptions) {
    this.options = options;
  }

  begin(task: WorkerTask): void {
    this.tasks.push(task);
  }

  addLogs(): void {
    // A test reads no output.
  }

  kill(): void {
    this.kills++;
    this.#end.resolve('was killed by SIGTERM');
  }
}

let processes: FakeProcess[];
let workers: SharedWorkers;
const never = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers();
  processes = [];
  workers = new SharedWorkers((options) => {
    const process = new FakeProcess(options);
    processes.push(process);
    return process;
  });
});
afterEach(() => void vi.useRealTimers());

/** The parts of a process that all these runs share. */
async function started(seats: readonly WorkerSeat[], ranks?: number[]) {
  const names = ['a', 'b', 'c'];
  const parts = await Promise.all(seats.map((seat, i) => seat.ask(requestOf(names[i], ranks), never)));
  return parts.map((part) => {
    if (part === null) throw new Error('The run got no process.');
    const ends: string[] = [];
    void part.ended.then((how) => ends.push(how));
    return { part, ends };
  });
}

describe('workers that several runs share', () => {
  it('start once all runs have asked or left, with what all of them need', async () => {
    const seats = [workers.seat(), workers.seat(), workers.seat()];
    const [first, second] = seats.map((seat, i) => (i < 2 ? seat.ask(requestOf('ab'[i]), never) : null));
    expect(processes).toHaveLength(0);
    seats[2].leave();
    expect(await Promise.all([first, second])).toHaveLength(2);
    expect(processes).toHaveLength(1);
    const [{ options, tasks }] = processes;
    expect(tasks).toEqual([
      {
        runs: [
          { socketPath: '/a.sock', token: 'a', ranks: [0] },
          { socketPath: '/b.sock', token: 'b', ranks: [0] },
        ],
      },
    ]);
    expect(options.placements).toHaveLength(2);
    expect(options.grant).toMatchObject({
      read: ['/project', '/runs/a', '/runs/b'],
      write: ['/runs/a', '/runs/b'],
      memoryBytes: 200,
    });
  });

  it('start again for the next runs of their seats, and wait for those that still train', async () => {
    const seats = [workers.seat(), workers.seat()];
    await started(seats);
    const next = seats[0].ask(requestOf('a2'), never);
    expect(processes).toHaveLength(1);
    seats[1].leave();
    expect(await next).not.toBeNull();
    expect(processes[1].tasks).toMatchObject([{ runs: [{ token: 'a2' }] }]);
  });

  it('let a run go that was aborted before its process started', async () => {
    const seats = [workers.seat(), workers.seat()];
    const abort = new AbortController();
    const aborted = seats[0].ask(requestOf('a'), abort.signal);
    abort.abort();
    expect(await aborted).toBeNull();
    seats[0].leave();
    expect(await seats[1].ask(requestOf('b'), never)).not.toBeNull();
  });

  it('end for a run whose ranks have left, and go on for the others', async () => {
    const [first, second] = await started([workers.seat(), workers.seat()], [0, 1]);
    const dismissed: string[] = [];
    first.part.leave(() => dismissed.push('rank 0'));
    first.part.vacate();
    expect(dismissed).toEqual([]);
    first.part.leave(() => dismissed.push('rank 1'));
    expect(dismissed).toEqual(['rank 0', 'rank 1']);
    first.part.vacate();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(first.ends).toEqual(['left its process']);
    expect(second.ends).toEqual([]);
    expect(processes[0].kills).toBe(0);
  });

  it('give up the ranks of one run, and are killed only if these do not end', async () => {
    const [first, second, third] = await started([workers.seat(), workers.seat(), workers.seat()]);
    const abandoned: string[] = [];
    first.part.kill(() => abandoned.push('a'));
    first.part.vacate();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([abandoned, first.ends, processes[0].kills]).toEqual([['a'], ['left its process'], 0]);
    second.part.kill(() => abandoned.push('b'));
    await vi.advanceTimersByTimeAsync(2_999);
    expect(processes[0].kills).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(processes[0].kills).toBe(1);
    expect(third.ends).toEqual(['was killed by SIGTERM']);
  });

  it('are killed at once if all runs give them up, or if they outlive their last run', async () => {
    const aborted = await started([workers.seat(), workers.seat()]);
    for (const { part } of aborted) part.kill(() => undefined);
    expect(processes[0].kills).toBe(1);
    const others = new SharedWorkers((options) => {
      processes.push(new FakeProcess(options));
      return processes[1];
    });
    const [{ part }] = await started([others.seat()]);
    part.leave(() => undefined);
    part.vacate();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(processes[1].kills).toBe(1);
  });
});
