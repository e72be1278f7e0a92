import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** A display without a screen and a session bus, both for the app alone. */
export interface Display {
  env: Record<string, string>;
  close: () => Promise<void>;
}

/** @throws Error with the remedy where one of the programs is missing */
export async function openDisplay(): Promise<Display> {
  const screen = start('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1200x24', '-nolisten', 'tcp']);
  const bus = start('dbus-daemon', ['--session', '--nofork', '--nopidfile', '--print-address=3']);
  const close = async (): Promise<void> => {
    await Promise.all([screen, bus].map(end));
  };
  try {
    const [display, address] = await Promise.all([firstLine(screen), firstLine(bus)]);
    return { env: { DISPLAY: `:${display}`, DBUS_SESSION_BUS_ADDRESS: address }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function start(program: string, options: readonly string[]): ChildProcess {
  return spawn(program, options, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
}

/** What the program writes to its fourth stream once it is ready. */
async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdio[3] as Readable });
  const failed = Promise.race([once(child, 'error'), once(child, 'exit')]).then(([cause]: unknown[]) => {
    throw new Error(`${child.spawnfile} did not start: apt-get install xvfb dbus (Debian)`, { cause });
  });
  const [line] = (await Promise.race([once(lines, 'line'), failed])) as [string];
  return line;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
