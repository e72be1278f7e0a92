import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { errorCode } from '../../../core/node/file-error.ts';
import { projectFolder } from '../harness.ts';

/** One task, as a process of `tutti train`. */
export interface LaunchedTask {
  child: ChildProcess;
  /** What it printed, line by line; of the first task JSON objects. */
  lines: string[];
  ended: Promise<number | null>;
  until(matches: (line: string) => boolean): Promise<string>;
}

export const tutti = join(import.meta.dirname, '../../../src-main/cli.ts');

/** Starts a task on a node of this machine. @param args after `tutti` */
export function startTask(node: string, variables: Record<string, string>, args: readonly string[]): LaunchedTask {
  return watchProcess([process.execPath, '--disable-warning=ExperimentalWarning', tutti, ...args], {
    ...variables,
    TUTTI_NODE: node,
  });
}

/** Starts a program, and collects its lines. */
export function watchProcess([command, ...args]: readonly string[], variables: Record<string, string>): LaunchedTask {
  const child = spawn(command, args, { env: { ...process.env, ...variables }, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      isOver = true;
      resolve(code);
      for (const look of waiting) look();
    });
  });
  const until = (matches: (line: string) => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = lines.find(matches);
        if (found !== undefined) resolve(found);
        else if (isOver) reject(new Error(`The task ended without the line that was waited for:\n${lines.join('\n')}`));
        else return;
        waiting.delete(look);
      };
      waiting.add(look);
      look();
    });
  return { child, lines, ended, until };
}

/** The variables of torchrun for a world of tasks, one a node. */
export function torchrun(rank: number, size: number, port: number): Record<string, string> {
  return { RANK: `${rank}`, WORLD_SIZE: `${size}`, MASTER_ADDR: '127.0.0.1', MASTER_PORT: `${port}` };
}

/** Arguments that train a project of the tests. */
export function trainArguments(project: string, folder: string, options: Record<string, string | number>): string[] {
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return ['train', projectFolder(project), '--out', folder, '--json', ...flags];
}

/** A task and all its processes, parents first. */
export function processesOf({ child }: LaunchedTask): number[] {
  const table = execFileSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const parents = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const all = [child.pid ?? 0];
  for (const pid of all) all.push(...parents.filter(([, parent]) => parent === pid).map(([own]) => own));
  return all;
}

/** Kills a task and all its processes at once, as if its node had lost power. */
export function killNode(task: LaunchedTask): void {
  for (const pid of processesOf(task)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It has ended with its parent.
      if (errorCode(error) !== 'ESRCH') throw error;
    }
  }
}
