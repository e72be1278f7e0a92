import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { projectFolder } from '../integration/harness.ts';

const entry = fileURLToPath(new URL('../integration/lifecycle/hub-process.ts', import.meta.url));

interface Line {
  rank?: number;
  pid?: number | null;
  state?: string;
  steppedTo?: number;
  ended?: string;
}

/** A hub in a separate process, whose workers and whose own process a campaign kills. */
export class HubUnderFire {
  /** Process of each rank that runs now. */
  readonly workers = new Map<number, number>();
  /** Every worker process so far. */
  readonly everyPid = new Set<number>();
  /** Resolves with the run's status, or null if the hub was killed. Rejects if it failed by itself. */
  readonly ended: Promise<string | null>;
  readonly startedMs = performance.now();
  private readonly child: ChildProcess;
  private isKilled = false;
  private status: string | null = null;
  private errors = '';
  private whenStepping: (() => void)[] = [];

  constructor(folder: string, config: object) {
    const args = [entry, projectFolder('blobs'), folder, JSON.stringify(config)];
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const { stdout, stderr } = this.child;
    if (stdout === null || stderr === null) throw new Error('The hub has no output: it must be piped.');
    createInterface({ input: stdout }).on('line', (line) => this.read(JSON.parse(line) as Line));
    stderr.on('data', (text: Buffer) => (this.errors += text.toString()));
    this.ended = new Promise((resolve, reject) => {
      this.child.on('error', reject);
      this.child.on('close', (code) => {
        if (this.isKilled || code === 0) resolve(this.status);
        else reject(new Error(`The hub exited with code ${code}: ${this.errors}`));
      });
    });
  }

  /** Resolves when a rank has done a step after this call. */
  stepping(): Promise<void> {
    return new Promise((resolve) => this.whenStepping.push(resolve));
  }

  kill(): void {
    this.isKilled = true;
    this.child.kill('SIGKILL');
  }

  private read({ rank, pid, state, steppedTo, ended }: Line): void {
    if (ended !== undefined) this.status = ended;
    if (steppedTo !== undefined) for (const resolve of this.whenStepping.splice(0)) resolve();
    if (rank === undefined || pid === undefined || pid === null) return;
    this.everyPid.add(pid);
    if (state === 'exited') this.workers.delete(rank);
    else this.workers.set(rank, pid);
  }
}
