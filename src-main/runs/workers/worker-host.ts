import { mkdir } from 'node:fs/promises';
import { ScratchFolder } from './scratch.ts';
import { WorkerChild, type WorkerChildOptions } from './worker-child.ts';

/**
 * Keeps worker processes for the next runs of the same project: they then need not start, import the project and read
 * its data again. A process stays only after a run that succeeded. What it may write is granted when it starts, so all
 * these runs lie in one folder and share the folders of ranks.
 */
export class WorkerHost {
  /** The folder of the runs. */
  readonly runs: string;
  readonly #scratch: ScratchFolder;
  readonly #children = new Map<string, WorkerChild>();

  private constructor(runs: string, scratch: ScratchFolder) {
    this.runs = runs;
    this.#scratch = scratch;
  }

  /** @param runs the folder in which all runs lie */
  static async open(runs: string): Promise<WorkerHost> {
    await mkdir(runs, { recursive: true });
    return new WorkerHost(runs, await ScratchFolder.create());
  }

  /** Folders in which ranks share files, in memory and on a disk. */
  get scratch(): { scratchFolder: string; overflowFolder: string | null } {
    const { path, overflow } = this.#scratch;
    return { scratchFolder: path, overflowFolder: overflow };
  }

  /** The process that has stayed for the same ranks with the same rights, or a new one. */
  take(options: Omit<WorkerChildOptions, 'isStaying'>): WorkerChild {
    const { placements, core, grant } = options;
    const key = JSON.stringify([placements.map(({ rank, device }) => [rank, device.id]), core, grant]);
    const kept = this.#children.get(key);
    if (kept?.isThere === true) return kept;
    const child = new WorkerChild({ ...options, isStaying: true });
    this.#children.set(key, child);
    return child;
  }

  /** Ends all processes, and removes the folders. */
  async close(): Promise<void> {
    const children = [...this.#children.values()];
    this.#children.clear();
    for (const child of children) child.kill();
    await Promise.all(children.map(({ ended }) => ended));
    await this.#scratch.remove();
  }
}
