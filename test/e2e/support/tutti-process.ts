import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

const sourceFolder = join(import.meta.dirname, '../../..', 'src-main');

/** `tutti dashboard` without a display: the server for a browser, with everything that it starts. */
export interface TuttiProcess {
  /** Opens the page. Works once. */
  link: string;
  port: number;
  /** Ends it like Ctrl-C. @returns its complaints by line @throws unless it exits normally */
  stop(): Promise<string[]>;
  /** Kills it without notice, like a crash. */
  kill(): Promise<void>;
}

export async function startTutti(home: string): Promise<TuttiProcess> {
  const child = spawn(process.execPath, [join(sourceFolder, 'tutti.mjs'), 'dashboard'], {
    env: environment(home),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors = text(child.stderr);
  const exited = once(child, 'exit');
  const link = await readLink(child.stdout);
  if (link === null) throw new Error(`Tutti did not start: ${await errors}`);

  async function end(signal: NodeJS.Signals): Promise<void> {
    child.kill(signal);
    await exited;
  }
  return {
    link,
    port: Number(new URL(link).port),
    async stop() {
      await end('SIGTERM');
      const said = await errors;
      if (child.exitCode !== 0) throw new Error(`Tutti left with ${child.exitCode ?? child.signalCode}: ${said}`);
      return said.split('\n').filter((line) => line !== '');
    },
    kill: () => end('SIGKILL'),
  };
}

/** Trains from a terminal beside the dashboard. */
export async function trainFromTerminal(home: string, project: string, ...flags: string[]): Promise<void> {
  const command = [join(sourceFolder, 'tutti.mjs'), 'train', project, ...flags];
  await promisify(execFile)(process.execPath, command, { env: environment(home) });
}

/** A new link to the dashboard of a home, as `npx tutti dashboard --link` prints it. */
export async function newLink(home: string): Promise<string> {
  const command = [join(sourceFolder, 'tutti.mjs'), 'dashboard', '--link'];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env: environment(home) });
  return stdout.trim();
}

function environment(home: string): NodeJS.ProcessEnv {
  const { DISPLAY: _x11, WAYLAND_DISPLAY: _wayland, ...others } = process.env;
  return { TUTTI_TRUST: join(sourceFolder, '..'), ...others, TUTTI_HOME: home };
}

/** The link that it prints once it serves, or null if it exited before. */
function readLink(stdout: Readable): Promise<string | null> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: stdout });
    lines.on('line', (line) => {
      const link = /^Tutti runs at\s+(\S+)$/.exec(line)?.[1];
      if (link !== undefined) resolve(link);
    });
    lines.on('close', () => resolve(null));
  });
}
