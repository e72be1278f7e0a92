import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  describeEnforcement,
  type Enforcement,
  enforcementSchema,
  enforcementVariable,
} from '../../core/protocol/machine/confinement.ts';
import { FileLock, lookAtLock } from '../../core/node/file-lock.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import { formatCount } from '../../core/text/numbers.ts';
import { confinedEnvironment, confinementFlags, type Grant } from '../processes/confined.ts';
import { hasDeathSignal, nodeBinary, nodeFlags } from '../processes/node-process.ts';
import { homePaths, tuttiHome } from '../store/home.ts';
import type { Check } from './backend-checks.ts';

type Finding = Omit<Check, 'name'>;

/** A hub holds some files for itself, and a few for each rank, page and run that it shows. */
const fewOpenFiles = 1024;
/** One for each folder of a run that a page or `attach` watches, and for each process that watches. */
const fewWatches = 8192;
const fewWatchers = 128;
const confinementLimitMs = 20_000;

/** The soft limit of open files. @param limits the text of `/proc/self/limits`; null where there is none */
export function checkOpenFiles(limits: string | null): Finding {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits ?? '')?.[1];
  if (soft === undefined) return { status: 'ok', detail: 'the limit is not known on this system' };
  const detail = `${soft} at most`;
  if (soft === 'unlimited' || Number(soft) >= fewOpenFiles) return { status: 'ok', detail };
  const remedy = 'Many ranks or pages may need more: ulimit -n 4096.';
  return { status: 'warn', detail, remedy };
}

/** The limits of inotify. @param limits null where there is none */
export function checkWatches(limits: { watches: number; watchers: number } | null): Finding {
  if (limits === null) return { status: 'ok', detail: 'not limited by inotify on this system' };
  const { watches, watchers } = limits;
  const detail = `${formatCount(watches)} watches, ${formatCount(watchers)} watchers`;
  if (watches >= fewWatches && watchers >= fewWatchers) return { status: 'ok', detail };
  const remedy =
    'Runs are not affected, but pages may miss changes of runs in other processes: sudo sysctl ' +
    'fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512.';
  return { status: 'warn', detail, remedy };
}

/** Who enforces the limits of a project's processes. */
export function checkConfinement(enforcement: Enforcement): Finding {
  const detail = describeEnforcement(enforcement).replace(/\.$/, '');
  if (enforcement.problems.length === 0) return { status: 'ok', detail };
  const remedy =
    "Only Node's own limits apply to projects, not to native code. On Linux: a kernel from 5.13 with Landlock " +
    'and seccomp, and npm ci with its optional packages.';
  return { status: 'warn', detail, remedy };
}

/** Whether a lock can be had in a folder, and whether another look sees it. */
export async function checkLocks(folder: string): Promise<Finding> {
  const path = join(folder, `.locks-${process.pid}`);
  const lock = FileLock.tryTake(path);
  try {
    const { kind } = lookAtLock(path);
    if (lock !== null && kind === 'held') return { status: 'ok', detail: `work in ${folder}` };
    throw new Error(`A lock in ${folder} is not seen as held (${kind}).`);
  } finally {
    lock?.release();
    await rm(path, { force: true });
  }
}

/** Checks the limits of this machine that matter to Tutti. Each check may throw. */
export const limitChecks: Readonly<Record<string, { check: () => Promise<Finding>; remedy: string }>> = {
  'locks of the home': {
    check: () => checkLocks(tuttiHome()),
    remedy: 'No run can start there. Set TUTTI_HOME to a folder on a local disk, or use --out.',
  },
  'open files': {
    check: async () => checkOpenFiles(await readIfAny('/proc/self/limits')),
    remedy: 'See ulimit -n.',
  },
  'file watches': { check: async () => checkWatches(await readWatchLimits()), remedy: 'See /proc/sys/fs/inotify.' },
  'limits of projects': {
    check: async () => checkConfinement(await askConfinedProcess()),
    remedy: 'Projects cannot run: reinstall with npm ci.',
  },
  'end of workers': {
    check: () => Promise.resolve(checkDeathSignal()),
    remedy: 'Install util-linux.',
  },
};

function checkDeathSignal(): Finding {
  if (process.platform !== 'linux') return { status: 'ok', detail: 'workers watch their hub' };
  if (hasDeathSignal()) return { status: 'ok', detail: 'the kernel ends workers after their hub' };
  const remedy = 'Install util-linux (setpriv), and the kernel ends them.';
  return { status: 'warn', detail: 'workers watch their hub themselves', remedy };
}

async function readWatchLimits(): Promise<{ watches: number; watchers: number } | null> {
  const [watches, watchers] = await Promise.all(
    ['max_user_watches', 'max_user_instances'].map((name) => readIfAny(`/proc/sys/fs/inotify/${name}`)),
  );
  return watches === null || watchers === null ? null : { watches: Number(watches), watchers: Number(watchers) };
}

function readIfAny(path: string): Promise<string | null> {
  return unlessMissing(readFile(path, 'utf8'));
}

/** Starts a process with the limits of a project's. @returns who enforces them */
async function askConfinedProcess(): Promise<Enforcement> {
  const compileCache = join(homePaths().cache, 'compile', 'projects', 'doctor');
  const grant: Grant = {
    read: ['/'],
    write: [],
    network: false,
    processes: false,
    memoryBytes: null,
    environment: [],
    compileCache,
  };
  const tell = `console.log('ENFORCEMENT ' + process.env.${enforcementVariable})`;
  const args = [...nodeFlags, ...confinementFlags(grant), '--eval', tell];
  const { stdout } = await promisify(execFile)(nodeBinary(), args, {
    env: confinedEnvironment(grant, undefined, []),
    timeout: confinementLimitMs,
  });
  return enforcementSchema.parse(JSON.parse(/^ENFORCEMENT (.*)$/m.exec(stdout)?.[1] ?? 'null'));
}
