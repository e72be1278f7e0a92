import type { Confinement } from '../../core/protocol/machine/confinement.ts';
import { restrictFiles } from './landlock.ts';
import { loadNativeCalls, type NativeCalls } from './native-calls.ts';
import { buildFilter, encodeFilter } from './seccomp-filter.ts';

/** Values of linux/prctl.h, linux/seccomp.h and sys/resource.h. */
const noNewPrivileges = 38;
const seccompCalls: Partial<Record<NodeJS.Architecture, number>> = { x64: 317, arm64: 277 };
const limitCalls: Partial<Record<NodeJS.Architecture, number>> = { x64: 302, arm64: 261 };
const setFilterMode = 1;
const allThreads = 1;
const dataLimit = 2;

/**
 * Files that libraries of the system read: the loader, BLAS, time zones, name resolution. The user's files are not among them, and of /proc
 * nothing of other processes, whose environments hold secrets.
 */
const systemFolders = [
  '/usr', '/lib', '/lib32', '/lib64', '/bin', '/sbin', '/opt', '/nix/store', '/gnu/store', '/proc/self', '/proc/cpuinfo',
  '/proc/meminfo', '/proc/stat', '/proc/loadavg', '/proc/uptime', '/proc/version', '/proc/filesystems', '/proc/sys', '/sys', '/dev/null', '/dev/zero',
  '/dev/random', '/dev/urandom', '/etc/ld.so.cache', '/etc/ld.so.preload', '/etc/ld.so.conf', '/etc/localtime', '/etc/timezone',
  '/etc/ssl', '/etc/pki', '/etc/ca-certificates', '/etc/resolv.conf', '/run/systemd/resolve', '/etc/hosts', '/etc/host.conf',
  '/etc/nsswitch.conf', '/etc/gai.conf', '/etc/services', '/etc/protocols', '/etc/mime.types',
]; // prettier-ignore
const systemDevices = ['/dev/null', '/dev/zero'];

/**
 * Gives up everything that the process does not need, for good, also for native code: on Linux by Landlock (files), seccomp (network,
 * processes) and a limit on memory.
 * @returns what could not be enforced, for the log; Node's permission model applies in any case
 */
export function confine(confinement: Confinement): string[] {
  if (process.platform !== 'linux') return [`${process.platform} has no limits beyond those of Node`];
  const calls = loadNativeCalls();
  if (calls === null) return ['the package koffi is not installed, which sets the limits of the kernel'];
  const problems = [limitMemory(calls, confinement.memoryBytes)];
  if (confinement.isKernelAsked) {
    // Programs that run as root would escape; without this the kernel accepts neither of the two.
    calls.prctl(noNewPrivileges, 1);
    problems.push(restrictFiles(calls, withSystem(confinement)), filterCalls(calls, confinement));
  }
  return problems.filter((problem) => problem !== null);
}

function withSystem({ read, write }: Confinement): { read: string[]; write: string[] } {
  const { LD_LIBRARY_PATH = '', CONDA_PREFIX = '', MKLROOT = '' } = process.env;
  const libraries = [...LD_LIBRARY_PATH.split(':'), CONDA_PREFIX, MKLROOT].filter((folder) => folder.startsWith('/'));
  return { read: [...systemFolders, ...libraries, ...read], write: [...systemDevices, ...write] };
}

function filterCalls(calls: NativeCalls, rules: Confinement): string | null {
  const filter = buildFilter(process.arch, process.pid, rules);
  const number = seccompCalls[process.arch];
  if (filter === null || number === undefined) return `there is no filter of system calls for ${process.arch}`;
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
  const number = limitCalls[process.arch];
  if (bytes === null || number === undefined) return null;
  const limit = BigInt(bytes) + BigInt(reservedBytes(calls));
  const limits = new BigUint64Array([limit, limit]);
  const result = calls.syscall(number, 0, dataLimit, calls.addressOf(new Uint8Array(limits.buffer)), 0);
  return result === 0 ? null : `the kernel refused a limit on memory (errno ${calls.errno()})`;
}

/** What counts as data of this process already: V8 reserves room for code as it starts. */
function reservedBytes(calls: NativeCalls): number {
  return 1024 * Number(/^VmData:\s+(\d+) kB$/m.exec(calls.readText('/proc/self/status'))?.[1] ?? 0);
}
