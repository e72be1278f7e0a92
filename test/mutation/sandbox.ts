import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The result of a command. The code is null after a timeout. */
export interface Ended {
  code: number | null;
  output: string;
}

/**
 * A copy of the repository whose files may be damaged. On Linux, where permitted, its commands have processes, shared
 * memory and a temporary folder that end with them: a mutant may leave workers behind, or signal a foreign process.
 */
export class Sandbox {
  readonly folder: string;
  #running: ChildProcess | null = null;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** @param files the files to copy, relative to `root` */
  static async create(root: string, files: readonly string[]): Promise<Sandbox> {
    // Short, because socket paths may have at most 107 bytes.
    const folder = await mkdtemp(join(tmpdir(), 'mutants-'));
    for (const file of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await cp(join(root, file), join(folder, file));
    }
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    return new Sandbox(folder);
  }

  write(file: string, content: string | Uint8Array): Promise<void> {
    return writeFile(join(this.folder, file), content);
  }

  read(file: string): Promise<Buffer> {
    return readFile(join(this.folder, file));
  }

  /** Runs Node with these arguments in the copy, and kills it with all its descendants after `timeoutMs`. */
  async runNode(args: readonly string[], timeoutMs: number): Promise<Ended> {
    const temporary = join(this.folder, '.tmp');
    await mkdir(temporary, { recursive: true });
    try {
      const env = { ...process.env, TMPDIR: temporary, NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` };
      const [command, ...rest] = [...isolation, process.execPath, ...args];
      this.#running = spawn(command, rest, { cwd: this.folder, env, detached: true });
      return await waitFor(this.#running, timeoutMs);
    } finally {
      await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  /** Kills everything that runs in it, and removes it. */
  async remove(): Promise<void> {
    if (this.#running !== null) endGroup(this.#running);
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A mutant that allocates endlessly must not use up the machine's memory. */
const heapMegabytes = 2048;

function waitFor(child: ChildProcess, timeoutMs: number): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-20_000)));
    }
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child);
    }, timeoutMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: isLate ? null : (code ?? 1), output });
    });
  });
}

function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  const isRunning = pid !== undefined && exitCode === null && signalCode === null;
  if (isRunning) process.kill(-pid, 'SIGKILL');
}

/** Linux namespaces for processes and mounts, with a temporary `/dev/shm`; empty if they are not permitted. */
const isolation = findIsolation();

function findIsolation(): string[] {
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const inside = ['sh', '-c', 'mount -t tmpfs -o size=4g tmpfs /dev/shm && exec "$@"', 'sh'];
  const candidates = [
    ['unshare', ...namespaces, ...inside],
    ['unshare', '--user', '--map-root-user', ...namespaces, ...inside],
  ];
  return candidates.find(([command, ...args]) => spawnSync(command, [...args, 'true']).status === 0) ?? [];
}
