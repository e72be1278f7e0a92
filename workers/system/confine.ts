import {
  type Confinement,
  confinementVariable,
  enforcedByNode,
  type Enforcement,
} from '../../core/protocol/machine/confinement.ts';
import { loadNativeCalls, type NativeCalls } from './native-calls.ts';
import { buildFilter, buildRingFilter, encodeFilter, type Instruction, numberHere } from './seccomp-filter.ts';
import { callGroups } from './system-calls.ts';

/** Values of linux/prctl.h, linux/seccomp.h, sys/resource.h and fcntl.h. */
const noNewPrivileges = 38;
const setFilterMode = 1;
const allThreads = 1;
const dataLimit = 2;
const setDescriptorFlags = 2;

/**
 * Files that libraries of the system read: the loader, BLAS, time zones, name resolution. The user's files are not
 * among them, and of /proc nothing of other processes, whose environments hold secrets.
 */
const systemFolders = [
  '/usr', '/lib', '/lib32', '/lib64', '/bin', '/sbin', '/opt', '/nix/store', '/gnu/store', '/proc/self', '/proc/cpuinfo',
  '/proc/meminfo', '/proc/stat', '/proc/loadavg', '/proc/uptime', '/proc/version', '/proc/filesystems', '/proc/sys', '/sys', '/dev/null', '/dev/zero',
  '/dev/random', '/dev/urandom', '/etc/ld.so.cache', '/etc/ld.so.preload', '/etc/ld.so.conf', '/etc/localtime', '/etc/timezone',
  '/etc/ssl', '/etc/pki', '/etc/ca-certificates', '/etc/resolv.conf', '/run/systemd/resolve', '/etc/hosts', '/etc/host.conf',
  '/etc/nsswitch.conf', '/etc/gai.conf', '/etc/services', '/etc/protocols', '/etc/mime.types',
]; // prettier-ignore
const systemDevices = ['/dev/null', '/dev/zero'];

/** A confinement whose files the kernel limits already: what this thread was before it executed Node once more. */
interface Restricted extends Confinement {
  /** Null: the kernel limits files for all threads; else the reason why it does not. Missing in the first Node. */
  whyFilesAreFree?: string | null;
}

/**
 * Gives up everything that the process does not need, for good, also for native code: on Linux by Landlock (files),
 * seccomp (network, processes) and a limit on memory. Landlock holds only for what the calling thread starts, so the
 * process executes its Node a second time under the rules for files, and does not return from the first call.
 * @returns who enforces what; Node's permission model applies in any case
 */
export function confine(confinement: Restricted): Enforcement {
  if (process.platform !== 'linux') return enforcedByNode(`${process.platform} has no limits beyond those of Node`);
  const calls = loadNativeCalls();
  if (calls === null) return enforcedByNode('the package koffi is not installed, which sets the limits of the kernel');
  if (!confinement.isKernelAsked) {
    const why = "drivers of GPUs start programs and open files of their own, which the kernel's limits would refuse";
    return enforcedByNode(why, ...reasons(limitMemory(calls, confinement.memoryBytes)));
  }
  const { whyFilesAreFree = restrictAndStartAgain(calls, confinement) } = confinement;
  const memory = limitMemory(calls, confinement.memoryBytes);
  const filter = filterCalls(calls, confinement);
  return {
    files: whyFilesAreFree === null ? 'kernel' : 'node',
    network: filter === null ? 'kernel' : 'nothing',
    programs: filter === null ? 'kernel' : 'node',
    problems: reasons(whyFilesAreFree, memory, filter),
  };
}

function reasons(...problems: (string | null)[]): string[] {
  return problems.filter((problem) => problem !== null);
}

/**
 * Limits files for this thread, and executes this process's command again, which ends all other threads and keeps the
 * process's number, pipes and parent.
 * @throws Error if the kernel executes nothing
 */
function restrictAndStartAgain(calls: NativeCalls, confinement: Confinement): never {
  // Programs that run as root would escape; without this the kernel accepts no rules.
  calls.prctl(noNewPrivileges, 1);
  const whyFilesAreFree = restrictFiles(calls, withSystem(calls, confinement));
  const number = numberHere(callGroups.judged.execve);
  if (number === null)
    throw new Error(`Tutti knows no system calls of ${process.arch}, so it cannot limit projects there.`);
  const next: Restricted = { ...confinement, whyFilesAreFree };
  const environment = { ...process.env, [confinementVariable]: JSON.stringify(next) };
  const own = calls.readFile('/proc/self/cmdline').toString('latin1').split('\0').slice(0, -1);
  // Node's limits on files do not hold in its threads, so that a worker has some only under the kernel's limits. One
  // that is not `guarded` by its keeper needs a thread for that.
  const hasThreads = whyFilesAreFree === null || !own.includes('guarded');
  const command = hasThreads ? own : own.filter((argument) => argument !== '--allow-worker');
  const program = cStrings(calls, [process.execPath]);
  const values = cStrings(calls, command, 'latin1');
  const variables = cStrings(
    calls,
    Object.entries(environment).map(([name, value]) => `${name}=${value}`),
  );
  keepOpen(calls, [0, 1, 2, ...confinement.inherited]);
  setFilter(calls, buildRingFilter(process.arch));
  calls.syscall(number, Number(program.pointers[0]), addressOf(calls, values), addressOf(calls, variables));
  throw new Error(
    `${process.execPath} could not be executed again under the limits of the project (errno ${calls.errno()}).`,
  );
}

/** Node closes all that it has opened or inherited when it executes a program. */
function keepOpen(calls: NativeCalls, descriptors: readonly number[]): void {
  const fcntl = numberHere(callGroups.judged.fcntl);
  if (fcntl !== null) for (const descriptor of descriptors) calls.syscall(fcntl, descriptor, setDescriptorFlags, 0);
}

/** Strings as C has them: an array of addresses that ends with 0. Both must be kept until the call. */
interface CStrings {
  bytes: Buffer;
  pointers: BigUint64Array<ArrayBuffer>;
}

function cStrings(calls: NativeCalls, texts: readonly string[], encoding: 'utf8' | 'latin1' = 'utf8'): CStrings {
  const encoded = texts.map((text) => Buffer.from(`${text}\0`, encoding));
  const bytes = Buffer.concat(encoded);
  let next = BigInt(calls.addressOf(bytes));
  const pointers = encoded.map(({ length }) => {
    const address = next;
    next += BigInt(length);
    return address;
  });
  return { bytes, pointers: new BigUint64Array([...pointers, 0n]) };
}

function addressOf(calls: NativeCalls, { pointers }: CStrings): number {
  return calls.addressOf(new Uint8Array(pointers.buffer));
}

function withSystem(calls: NativeCalls, { read, write }: Confinement): { read: string[]; write: string[] } {
  const { LD_LIBRARY_PATH = '', CONDA_PREFIX = '', MKLROOT = '' } = process.env;
  const libraries = [...LD_LIBRARY_PATH.split(':'), CONDA_PREFIX, MKLROOT].filter((folder) => folder.startsWith('/'));
  const own = [process.execPath, ...mappedFiles(calls)];
  return { read: [...systemFolders, ...libraries, ...own, ...read], write: [...systemDevices, ...write] };
}

/** The libraries that this Node has loaded, wherever they lie: it loads them again. */
function mappedFiles(calls: NativeCalls): string[] {
  const lines = calls
    .readFile('/proc/self/maps')
    .toString()
    .matchAll(/ r-xp .* (\/.+)$/gm);
  return [...new Set([...lines].map(([, path]) => path))];
}

function filterCalls(calls: NativeCalls, rules: Confinement): string | null {
  return setFilter(calls, buildFilter(process.arch, process.pid, rules));
}

/** A filter holds for all threads that exist already, too. @returns why there is none; null: it is set */
function setFilter(calls: NativeCalls, filter: Instruction[] | null): string | null {
  const number = numberHere(callGroups.facts.seccomp);
  if (filter === null || number === null) return `there is no filter of system calls for ${process.arch}`;
  const instructions = encodeFilter(filter);
  // struct sock_fprog: the number of instructions, then their address.
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, filter.length, true);
  program.setBigUint64(8, BigInt(calls.addressOf(instructions)), true);
  const result = calls.syscall(number, setFilterMode, allThreads, calls.addressOf(new Uint8Array(program.buffer)));
  return result === 0 ? null : `the kernel refused the filter of system calls (errno ${calls.errno()})`;
}

/** Limits private writable memory: arrays, the JavaScript heap, libraries. Node's own reservations come on top. */
function limitMemory(calls: NativeCalls, bytes: number | null): string | null {
  const number = numberHere(callGroups.judged.prlimit64);
  if (bytes === null || number === null) return null;
  const limit = BigInt(bytes) + BigInt(reservedBytes(calls));
  const limits = new BigUint64Array([limit, limit]);
  const result = calls.syscall(number, 0, dataLimit, calls.addressOf(new Uint8Array(limits.buffer)), 0);
  return result === 0 ? null : `the kernel refused a limit on memory (errno ${calls.errno()})`;
}

/** What counts as data of this process already: V8 reserves room for code as it starts. */
function reservedBytes(calls: NativeCalls): number {
  return 1024 * Number(/^VmData:\s+(\d+) kB$/m.exec(calls.readFile('/proc/self/status').toString())?.[1] ?? 0);
}

/**
 * Landlock (Linux 5.13 and newer, `man 7 landlock`): the kernel refuses every file outside of the given folders, also
 * for native code. It holds for the thread that asks and what that thread starts. Node has other threads before its
 * first line of JavaScript runs, so `confine` lets this thread execute Node once more: `execve` keeps the rules and
 * ends all other threads.
 */

/** Numbers of the system calls, the same on all architectures. */
const createRuleset = 444;
const addRule = 445;
const restrictSelf = 446;

const versionFlag = 1;
const pathBeneath = 1;

/** Rights of linux/landlock.h by the version of the kernel's interface that brought them. */
const right = {
  execute: 1,
  writeFile: 2,
  readFile: 4,
  readDir: 8,
  makeCharacterDevice: 1 << 6,
  makeBlockDevice: 1 << 11,
  makeSymbolicLink: 1 << 12,
  refer: 1 << 13,
  truncate: 1 << 14,
  ioctlDev: 1 << 15,
};
const firstRights = (1 << 13) - 1;
/** Nobody is granted these: what other programs open later by a name in a granted folder is a file of that folder. */
const planting = right.makeSymbolicLink | right.makeCharacterDevice | right.makeBlockDevice;
const reading = right.execute | right.readFile | right.readDir;
/** The rights that files have; others are only for folders. */
const ofFiles = right.execute | right.writeFile | right.readFile | right.truncate | right.ioctlDev;
/** `LANDLOCK_SCOPE_*`: abstract Unix sockets of other programs, and signals to them. */
const scopes = { abstractSockets: 1, signals: 2 };

interface FileRights {
  read: readonly string[];
  write: readonly string[];
}

/** Null if the kernel refuses this thread other files from now on, else the reason why it does not. */
function restrictFiles(calls: NativeCalls, { read, write }: FileRights): string | null {
  const version = calls.syscall(createRuleset, 0, 0, versionFlag);
  if (version < 1) return 'this kernel has no Landlock';
  const handled =
    firstRights |
    (version >= 2 ? right.refer : 0) |
    (version >= 3 ? right.truncate : 0) |
    (version >= 5 ? right.ioctlDev : 0);
  // struct landlock_ruleset_attr: the rights of files, those of the network (left to seccomp), the scopes.
  const scoped = version >= 6 ? [0n, BigInt(scopes.abstractSockets | scopes.signals)] : [];
  const attributes = new BigUint64Array([BigInt(handled), ...scoped]);
  const ruleset = calls.syscall(createRuleset, calls.addressOf(bytesOf(attributes)), attributes.byteLength, 0);
  if (ruleset < 0) return `Landlock refused its rules (errno ${calls.errno()})`;
  for (const path of read) allowBeneath(calls, ruleset, path, reading & handled);
  for (const path of write) allowBeneath(calls, ruleset, path, handled & ~planting);
  const isRestricted = calls.syscall(restrictSelf, ruleset, 0) === 0;
  calls.close(ruleset);
  return isRestricted ? null : `Landlock refused its rules (errno ${calls.errno()})`;
}

/** A path that does not exist needs no rule. */
function allowBeneath(calls: NativeCalls, ruleset: number, path: string, rights: number): void {
  const file = calls.openPath(path);
  if (file < 0) return;
  for (const allowed of [rights, rights & ofFiles]) {
    // struct landlock_path_beneath_attr, which is packed: the rights, then the file.
    const rule = new DataView(new ArrayBuffer(12));
    rule.setBigUint64(0, BigInt(allowed), true);
    rule.setInt32(8, file, true);
    // The kernel refuses rights for folders where the path is a file.
    if (calls.syscall(addRule, ruleset, pathBeneath, calls.addressOf(new Uint8Array(rule.buffer)), 0) === 0) break;
  }
  calls.close(file);
}

function bytesOf(values: BigUint64Array<ArrayBuffer>): Uint8Array {
  return new Uint8Array(values.buffer);
}
