import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import type koffiModule from 'koffi';
import { type Confinement, confinementVariable } from '../../core/protocol/machine/confinement.ts';
import { errorCode } from '../../core/node/file-error.ts';
import type { Device } from '../../core/protocol/machine/devices.ts';
import { entryFile, whyNotMapped } from './app-files.ts';
import { childEnvironment } from './node-process.ts';

/** What a process with a project's code gets. `src-main/trust/grant.ts` makes it, for trusted projects only. */
export interface Grant extends Omit<Confinement, 'isKernelAsked' | 'inherited'> {
  /** Names of variables that the project asked for, beside those that every process gets. */
  environment: readonly string[];
  /**
   * The project's own folder for compiled code: what it writes there is never run for another project or by the hub.
   */
  compileCache: string;
}

const confineEntry = entryFile('workers/entries/confine');

/** Variables that processes get from the user's environment, beside those that the project asked for. */
const passedNames =
  /^(PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|NODE_OPTIONS|NODE_DISABLE_COMPILE_CACHE|UV_THREADPOOL_SIZE|TUTTI_(?!TRUST$)\w+|(LD|DYLD)_\w+|CONDA_PREFIX|MKLROOT|(CUDA|NVIDIA|NV|HIP|ROCR|ROCM|HSA|AMD|GPU|MESA|VK|LIBGL|DRI|TF|XLA|OMP|OPENBLAS|GOTO|BLIS|MKL|VECLIB|MALLOC)_\w+)$/;
/** System variables without which Windows starts no program, and the names of its processors. */
const passedOnWindows =
  /^(SystemRoot|SystemDrive|windir|ComSpec|PATHEXT|Path|USERPROFILE|APPDATA|LOCALAPPDATA|ProgramData|PROCESSOR_\w+|NUMBER_OF_PROCESSORS)$/i;
/** They name proxies, sometimes with a password, and certificates. */
const passedWithNetwork =
  /^((HTTP|HTTPS|ALL|NO)_PROXY|NODE_USE_ENV_PROXY|NODE_USE_SYSTEM_CA|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/** The user's environment without what the process does not need: tokens, keys, passwords. */
export function passedEnvironment(
  { network, environment }: Pick<Grant, 'network' | 'environment'>,
  all: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const isPassed = (name: string): boolean =>
    passedNames.test(name) ||
    (process.platform === 'win32' && passedOnWindows.test(name)) ||
    (network && passedWithNetwork.test(name)) ||
    environment.includes(name);
  return Object.fromEntries(Object.entries(all).filter(([name]) => isPassed(name)));
}

/**
 * The environment of a confined process, with what it is to give up as it starts.
 * @param inherited descriptors that it inherits beside the usual three
 */
export function confinedEnvironment(
  grant: Grant,
  device: Device | undefined,
  inherited: readonly number[],
): NodeJS.ProcessEnv {
  const { read, write, network, processes, memoryBytes } = grant;
  const isKernelAsked = device === undefined || device.kind === 'cpu';
  const confinement: Confinement = {
    read: [...read, ...filesOfEnvironment(grant)],
    write: [...write, grant.compileCache],
    network,
    processes,
    memoryBytes,
    inherited,
    isKernelAsked,
  };
  return {
    ...childEnvironment(device, passedEnvironment(grant)),
    NODE_COMPILE_CACHE: grant.compileCache,
    [confinementVariable]: JSON.stringify(confinement),
  };
}

/**
 * Flags of Node's permission model (https://nodejs.org/docs/latest-v24.x/api/permissions.html), and what runs before
 * the entry.
 */
export function confinementFlags(grant: Grant, { needsThreads = false } = {}): string[] {
  const { read, write, processes, memoryBytes } = grant;
  makeCacheFolder(grant.compileCache);
  protectOwnMemory();
  const writable = [...write, grant.compileCache];
  const readable = [...read, ...filesOfEnvironment(grant), ...writable];
  readable.forEach(refuseWildcard);
  return [
    '--permission',
    '--disable-warning=SecurityWarning',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...writable.map((path) => `--allow-fs-write=${path}`),
    // Needed by koffi, which sets the limits of the kernel, maps shared data and calls a BLAS, and by native backends.
    '--allow-addons',
    ...(processes ? ['--allow-child-process'] : []),
    ...(processes || needsThreads ? ['--allow-worker'] : []),
    // From Node 25 on, also the socket to the hub needs it. The filter of system calls forbids the rest.
    ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
    ...heapFlags(memoryBytes),
    '--require',
    confineEntry,
  ];
}

/**
 * @throws Error for a path that Node would take for all paths with the same beginning; it has no way to quote the
 * character
 */
function refuseWildcard(path: string): void {
  const star = path.indexOf('*');
  if (star === -1) return;
  throw new Error(
    `${path} has a "*" in its name, which the limits of Node read as every path that begins with ` +
      `${path.slice(0, star)}. Rename the folder or the file, so that the project gets that one only.`,
  );
}

/** A constant of linux/prctl.h. */
const setDumpable = 4;
let isMemoryProtected = false;

/**
 * Lets no process of the same user read or change this one's memory, which holds tokens; also not where the kernel
 * limits no files, on GPUs.
 */
function protectOwnMemory(): void {
  if (isMemoryProtected || process.platform !== 'linux' || whyNotMapped() !== null) return;
  isMemoryProtected = true;
  const koffi = createRequire(import.meta.url)('koffi') as typeof koffiModule;
  const types = ['int', 'uintptr_t', 'uintptr_t', 'uintptr_t', 'uintptr_t'];
  const prctl = koffi.load(null).func('prctl', 'int', types) as (...values: number[]) => number;
  prctl(setDumpable, 0, 0, 0, 0);
}

/**
 * Creates a folder of the cache: Node grants what lies in a folder only if it exists. On a read-only or full disk there
 * is none: code is then compiled each time, and downloads fail. For a missing folder there, Node's recursive `mkdir`
 * says ENOENT.
 */
export function makeCacheFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!['EROFS', 'ENOENT', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '')) throw error;
  }
}

/** V8's own limit of the heap is lower than most machines' memory. */
const usualHeapBytes = 2 * 2 ** 30;

/** V8 reports a full heap better than an allocation that the system refuses. */
function heapFlags(memoryBytes: number | null): string[] {
  if (memoryBytes === null || memoryBytes >= usualHeapBytes) return [];
  return [`--max-old-space-size=${Math.max(64, Math.floor(memoryBytes / 2 ** 20))}`];
}

/** Certificates that the user's variables name. */
function filesOfEnvironment({ network }: Pick<Grant, 'network'>): string[] {
  if (!network) return [];
  const { NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR } = process.env;
  return [NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR].flatMap((path) => (path && existsSync(path) ? [path] : []));
}
