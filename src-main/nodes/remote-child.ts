import type { StartOrder } from '../../core/launch/task-messages.ts';
import type { WorkerTask } from '../../core/protocol/run/messages.ts';
import type { LineSink } from '../processes/output-lines.ts';

/** A worker process of another task, which that task starts and watches. The counterpart of `WorkerChild`. */
export class RemoteChild {
  /** Resolves when the process has ended, or its task is lost, with a description: `exited with code 1`. */
  readonly ended: Promise<string>;
  /** Nobody here knows how long it waits for a processor. */
  readonly waitedMs = (): number => 0;
  #pid: number | null = null;
  readonly #end = Promise.withResolvers<string>();
  readonly #start: (token: string) => void;
  readonly #kill: () => void;
  #logs: readonly LineSink[] = [];

  /**
   * @param start sends the order to start it
   * @param kill sends the order to end it
   */
  constructor(start: (token: string) => void, kill: () => void) {
    this.#start = start;
    this.#kill = kill;
    this.ended = this.#end.promise;
  }

  get pid(): number | null {
    return this.#pid;
  }

  begin({ runs: [{ token }] }: WorkerTask, logs: readonly LineSink[]): void {
    this.#logs = logs;
    this.#start(token);
  }

  /** What it prints from now on belongs to no run. */
  rest(): void {
    this.#logs = [];
  }

  kill(): void {
    this.#kill();
  }

  started(pid: number | null): void {
    this.#pid = pid;
  }

  print(lines: readonly string[]): void {
    for (const line of lines) for (const log of this.#logs) log.write(line);
  }

  end(how: string): void {
    this.#end.resolve(how);
  }
}

/** What a wave says about a worker that another task starts. */
export type RemoteStart = Omit<StartOrder, 'type' | 'id' | 'token' | 'folders'>;
