import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

const script = join(import.meta.dirname, 'hub-actor.ts');

export interface Actor {
  child: ChildProcess;
  /** The line that it printed. */
  result: unknown;
}

/**
 * Starts a process that does one action of `hub-actor.ts`.
 * @param prefix a command that starts it elsewhere: in another namespace, as another user
 */
export async function act(name: string, folder: string, prefix: readonly string[] = []): Promise<Actor> {
  const [command, ...args] = [...prefix, process.execPath, script, name, folder];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, result: JSON.parse(line) as unknown };
  }
  throw new Error(`The process for ${name} ended without a result.`);
}

/** Kills it. Resolves once every process that has its output is gone, also one that a prefix started. */
export async function end({ child }: Actor): Promise<void> {
  const closed = once(child, 'close');
  child.stdout?.resume();
  child.kill('SIGKILL');
  await closed;
}

/**
 * A process in a separate namespace, where it has the id 1 and does not see others. It dies with the command that
 * starts it.
 */
export const inNamespace = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
export const asNobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];

/** Why a prefix cannot be used here; null if it can. */
export function whyNotWith([command, ...args]: readonly string[]): string | null {
  const { status } = spawnSync(command, [...args, 'true']);
  return status === 0 ? null : `\`${command}\` may not do that here`;
}
