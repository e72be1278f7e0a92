import type { NativeCalls } from './native-calls.ts';

/**
 * Landlock (Linux 5.13 and newer, `man 7 landlock`): the kernel refuses every file outside of the given folders, also for native code. It
 * holds for the thread that asks and what that thread starts. Node has other threads before its first line of JavaScript runs, so
 * `confine` lets this thread execute Node once more: `execve` keeps the rules and ends all other threads.
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

export interface FileRights {
  read: readonly string[];
  write: readonly string[];
}

/** Null if the kernel refuses this thread other files from now on, else the reason why it does not. */
export function restrictFiles(calls: NativeCalls, { read, write }: FileRights): string | null {
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
