import { readFileSync } from 'node:fs';

const lookEveryMs = 500;
/** npm, a shell and `tutti.mjs` may lie between the user's command and this process. */
const deepest = 5;

/** A process and the parent that it had when this process started. */
interface Link {
  pid: number;
  parent: number;
}

const listeners = new Set<() => void>();

/**
 * Watches whether npm or the launcher `tutti.mjs` still runs, if one of them started this process. They pass on some
 * signals, and not those to the shell that npm starts in between, so training would continue without anyone who knows
 * of it. If one is gone, the listeners of {@link onLauncherLost} are called; without any, this process ends as if its
 * terminal was closed (SIGHUP). A command that a shell started directly, and a detached run, have no launcher.
 */
export function followLauncher(): void {
  const links = launchersOf(process.pid);
  if (links.length === 0) return;
  const timer = setInterval(() => {
    if (links.every(isPresent)) return;
    clearInterval(timer);
    if (listeners.size === 0) process.kill(process.pid, 'SIGHUP');
    for (const listener of listeners) listener();
  }, lookEveryMs).unref();
}

/** @returns a function that unsubscribes */
export function onLauncherLost(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** This process and its parents up to npm or the launcher; empty where a shell or a service started it. */
function launchersOf(pid: number): Link[] {
  const isUnderNpm = process.env.npm_lifecycle_event !== undefined;
  const launcher = Number(process.env.TUTTI_LAUNCHER);
  // Only Linux shows the parents of parents as files.
  if (process.platform !== 'linux') {
    return isUnderNpm || launcher === process.ppid ? [{ pid, parent: process.ppid }] : [];
  }
  const links: Link[] = [];
  let count = 0;
  for (let link = readLink(pid); link !== null && links.length < deepest; link = readLink(link.parent)) {
    links.push(link);
    if (link.parent === launcher || (isUnderNpm && isNpm(link.parent))) count = links.length;
  }
  return links.slice(0, count);
}

/** A process whose parent ended gets another parent. */
function isPresent({ pid, parent }: Link): boolean {
  return pid === process.pid ? process.ppid === parent : readLink(pid)?.parent === parent;
}

/** Null for a process that has ended, and for one whose parent has. */
function readLink(pid: number): Link | null {
  // The name, in parentheses, may contain anything; state and parent follow it.
  const [state, parent] = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return state === 'Z' || !(Number(parent) > 1) ? null : { pid, parent: Number(parent) };
}

/** npm sets its title: `npm run tutti`, `npm exec tutti`. */
function isNpm(pid: number): boolean {
  return /^np[mx]\b/.test(read(`/proc/${pid}/comm`));
}

/** Empty for a process that has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
