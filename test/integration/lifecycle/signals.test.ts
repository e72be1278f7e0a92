import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { notRun } from '../../environment/reasons.ts';
import { isRunning, projectFolder, useHub } from '../harness.ts';

const { home } = useHub();
const root = resolve(import.meta.dirname, '../../..');
const tutti = join(root, 'src-main', 'tutti.mjs');
const oldNode = findOldNode();
const noOldNode = oldNode === null ? 'the PATH has no Node older than 24' : null;
const noTerminal = spawnSync('script', ['--version']).status === 0 ? null : 'script of util-linux is missing';

/** Ways to start the command. */
const ways: Record<string, [string, ...string[]]> = {
  'Node itself': [process.execPath, tutti],
  'an older Node': [oldNode ?? 'node', tutti],
  'npm run': ['npm', 'run', '--silent', 'tutti', '--'],
  npx: ['npx', '--no', 'tutti'],
};

interface Training {
  /** The process that the user started. */
  top: ChildProcess;
  folder: string;
  /** The hub and its workers. */
  pids: Set<number>;
  /** The first line that matches, past or future. */
  until(words: string): Promise<string>;
}

function findOldNode(): string | null {
  const binaries = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const majorOf = (node: string): number =>
    Number(/^v(\d+)/.exec(spawnSync(node, ['--version']).stdout.toString())?.[1]);
  return binaries.find((node) => existsSync(node) && majorOf(node) >= 20 && majorOf(node) < 24) ?? null;
}

interface Start {
  project?: string;
  members?: number;
  options?: readonly string[];
  /** Makes the whole command of its words. */
  enclose?: (words: readonly string[]) => readonly string[];
}

/** Starts an endless run and waits until it trains. */
async function startTraining(
  way: string,
  { project = 'blobs', members = 1, options = [], enclose = (words) => words }: Start = {},
): Promise<Training> {
  const folder = join(home(), 'runs', `signals-${crypto.randomUUID()}`);
  const places = ['--devices', String(members), '--json', '--out', folder];
  const words = ['train', projectFolder(project), '--max-epochs', '1000000', ...places, ...options];
  const [command, ...args] = enclose([...ways[way], ...words]);
  // In a separate group, as a shell starts a command.
  const top = spawn(command, args, { cwd: root, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const looks = new Set<() => void>();
  for (const stream of [top.stdout, top.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const look of looks) look();
    });
  }
  const until = (text: string): Promise<string> =>
    new Promise((found) => {
      const look = (): void => {
        const line = lines.find((candidate) => candidate.includes(text));
        if (line === undefined) return;
        looks.delete(look);
        found(line);
      };
      looks.add(look);
      look();
    });
  await until('"training"');
  const pids = new Set(lines.flatMap((line) => /"pid":(\d+)/.exec(line)?.[1] ?? []).map(Number));
  const hub = (await readRunRecord(folder)).hub?.pid;
  if (hub !== undefined) pids.add(hub);
  return { top, folder, pids, until };
}

/** Waits until nothing is left of a run. @returns how the user's command and the run ended */
async function ending({ top, folder, pids }: Training): Promise<{ code: number | string | null; status: string }> {
  if (top.exitCode === null && top.signalCode === null) await once(top, 'exit');
  await expect.poll(() => [...pids].filter(isRunning)).toEqual([]);
  return { code: top.exitCode ?? top.signalCode, status: (await readRunRecord(folder)).status };
}

describe('a signal to the command that the user started', () => {
  const endings = [
    ['Node itself', 'SIGHUP', 129, 'interrupted'],
    ['Node itself', 'SIGQUIT', 131, 'interrupted'],
    ['an older Node', 'SIGINT', 130, 'stopped'],
    ['an older Node', 'SIGTERM', 143, 'interrupted'],
    ['an older Node', 'SIGHUP', 129, 'interrupted'],
    ['an older Node', 'SIGQUIT', 131, 'interrupted'],
    ['an older Node', 'SIGKILL', 'SIGKILL', 'stopped'],
    // The shell of npm keeps a SIGINT that only npm gets until its child has ended.
    ['npm run', 'SIGTERM', 'SIGTERM', 'stopped'],
    ['npm run', 'SIGHUP', 'SIGHUP', 'stopped'],
    ['npm run', 'SIGKILL', 'SIGKILL', 'stopped'],
    ['npx', 'SIGTERM', 'SIGTERM', 'stopped'],
    ['npx', 'SIGKILL', 'SIGKILL', 'stopped'],
  ] as const;
  for (const [way, signal, code, status] of endings) {
    const reason = way === 'an older Node' ? noOldNode : null;
    it.skipIf(reason !== null)(`leaves no process: ${way}, ${signal}${notRun(reason)}`, async () => {
      const training = await startTraining(way);
      training.top.kill(signal);
      expect(await ending(training)).toEqual({ code, status });
    });
  }
});

describe('Ctrl-C', () => {
  it.each(['npm run', 'npx', ...(noOldNode === null ? ['an older Node'] : [])])(
    'reaches several processes and counts once (%s)',
    async (way) => {
      const training = await startTraining(way, { members: 2 });
      process.kill(-(training.top.pid ?? 0), 'SIGINT');
      expect(await ending(training)).toMatchObject({ status: 'stopped' });
    },
  );

  it.skipIf(noOldNode !== null)(
    `aborts a run that does not stop when it is pressed again${notRun(noOldNode)}`,
    async () => {
      const training = await startTraining('an older Node', {
        project: 'faulty',
        members: 2,
        options: ['--fault', 'loop', '--at-step', '3'],
      });
      const { top, folder } = training;
      await expect
        .poll(() => readFileSync(join(folder, 'logs', 'rank-1.log'), 'utf8'))
        .toContain('The loss loops forever.');
      const ended = ending(training);
      top.kill('SIGINT');
      await training.until('Stopping jointly');
      // The second press counts once it is no longer a copy of the first.
      const press = (): number | null => {
        top.kill('SIGINT');
        return top.exitCode;
      };
      await expect.poll(press, { interval: 700 }).toBe(130);
      expect(await ended).toEqual({ code: 130, status: 'interrupted' });
    },
  );
});

describe.skipIf(noTerminal !== null)(`in a terminal${notRun(noTerminal)}`, () => {
  const inTerminal = (words: readonly string[]): string[] => ['script', '-qec', words.join(' '), '/dev/null'];

  it.each(['Node itself', 'npm run'])('Ctrl-C stops the run jointly (%s)', async (way) => {
    const training = await startTraining(way, { enclose: inTerminal });
    training.top.stdin?.write('\u0003');
    expect(await ending(training)).toMatchObject({ status: 'stopped' });
  });

  it.each(['Node itself', 'npm run'])('closing it leaves no process (%s)', async (way) => {
    const training = await startTraining(way, { enclose: inTerminal });
    training.top.kill('SIGKILL');
    expect(['interrupted', 'stopped']).toContain((await ending(training)).status);
  });
});
