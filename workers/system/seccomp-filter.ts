import { callGroups, type CallNumber, type JudgedCall } from './system-calls.ts';

/**
 * A filter for Linux's system calls (seccomp, `man 2 seccomp`), which a process sets for itself and all its threads,
 * and can never remove. It allows the calls that computing and Node need, and refuses what neither Landlock nor Node's
 * permission model covers: connections, other programs, other processes, and rights, owners, times and watches of
 * files. A project that may start programs keeps all calls but those that reach other processes, because nobody can
 * list what its programs need.
 */

export interface FilterRules {
  network: boolean;
  processes: boolean;
}

interface Architecture {
  /** `AUDIT_ARCH_*` of linux/audit.h. */
  audit: number;
  /** The first number of x32's system calls, which reach the same functions; null elsewhere. */
  firstForeign: number | null;
  /** The column of its numbers in `callGroups`. */
  column: 0 | 1;
}

export const architectures: Partial<Record<NodeJS.Architecture, Architecture>> = {
  x64: { audit: 0xc000003e, firstForeign: 0x4000_0000, column: 0 },
  arm64: { audit: 0xc00000b7, firstForeign: null, column: 1 },
};

/** The number of a call on this processor; null where it has none, or is not known. */
export function numberHere(numbers: CallNumber): number | null {
  const architecture = architectures[process.arch];
  return architecture === undefined ? null : numbers[architecture.column];
}

const errno = { EPERM: 1, EACCES: 13, ENOSYS: 38 };
const socketDomains = { unix: 1, netlink: 16 };
const cloneThread = 0x1_0000;
/** Requests that type into the user's terminal, `TIOCSTI` and `TIOCLINUX`. */
const terminalRequests = [0x5412, 0x541c];
/**
 * `TCGETS`, `TCGETS2`, `TIOCGWINSZ`, `FIONREAD`, `FIONBIO`, `FIONCLEX`, `FIOCLEX`, and `FICLONE` into a file that it
 * may write.
 */
const harmlessRequests = [0x5401, 0x802c_542a, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x4004_9409];
/**
 * Of fcntl(2): signals to any process when a file is ready (`F_SETOWN`, `F_SETSIG`, `F_SETOWN_EX`), leases and watches
 * of folders.
 */
const fileSignals = [8, 10, 15, 1024, 1026];
/** Set-user-ID, set-group-ID and the sticky bit. */
const specialModeBits = 0o7000;
/** Calls from here on have the same number everywhere, and the C library does without those that are missing. */
const firstRecentCall = 424;

/** An instruction of classic BPF (`struct sock_filter`): code, jump if true, jump if false, operand. */
export type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const jumpIfEqual = (value: number, ifTrue: number, ifFalse: number): Instruction => [0x15, ifTrue, ifFalse, value];
const jumpIfAtLeast = (value: number, ifTrue: number, ifFalse: number): Instruction => [0x35, ifTrue, ifFalse, value];
const jumpIfAnyBit = (bits: number, ifTrue: number, ifFalse: number): Instruction => [0x45, ifTrue, ifFalse, bits];
const refuse = (code: number): Instruction => [0x06, 0, 0, 0x0005_0000 | code];
const allow: Instruction = [0x06, 0, 0, 0x7fff_0000];

/** Offsets in `struct seccomp_data`: the number of the call, the architecture, and the low half of each argument. */
const callOffset = 0;
const architectureOffset = 4;
const argument = (index: number): number => 16 + 8 * index;

/**
 * The filter of a process that executes Node: it refuses io_uring, whose requests no later filter sees. libuv opens a
 * ring as Node starts, and waits by `epoll` where it cannot.
 */
export function buildRingFilter(arch: NodeJS.Architecture): Instruction[] | null {
  const architecture = architectures[arch];
  if (architecture === undefined) return null;
  const { io_uring_setup: setUp, io_uring_enter: enter, io_uring_register: register } = callGroups.neverAllowed;
  const rings = numbersOf({ setUp, enter, register }, architecture.column);
  return [load(callOffset), ...rings.flatMap((call) => onCall(call, [refuse(errno.ENOSYS)])), allow];
}

/**
 * The filter's instructions; null for an architecture without a table. The accumulator holds the number of the call at
 * the start of each block, and a block that does not concern the call continues with the next.
 */
export function buildFilter(arch: NodeJS.Architecture, pid: number, rules: FilterRules): Instruction[] | null {
  const architecture = architectures[arch];
  if (architecture === undefined) return null;
  const { audit, firstForeign, column } = architecture;
  const { judged, neverAllowed, ...harmless } = callGroups;
  return [
    load(architectureOffset),
    jumpIfEqual(audit, 1, 0),
    refuse(errno.EPERM),
    load(callOffset),
    ...(firstForeign === null ? [] : [jumpIfAtLeast(firstForeign, 0, 1), refuse(errno.EPERM)]),
    ...numbersOf(neverAllowed, column).flatMap((call) => onCall(call, [refuse(errno.EPERM)])),
    ...judgements(pid, rules).flatMap(([name, block]) => {
      const call = judged[name][column];
      return call === null ? [] : onCall(call, block);
    }),
    ...(rules.processes
      ? [allow]
      : [
          ...rangesOf(Object.values(harmless).flatMap((group) => numbersOf(group, column))).flatMap(allowRange),
          jumpIfAtLeast(firstRecentCall, 0, 1),
          refuse(errno.ENOSYS),
          refuse(errno.EPERM),
        ]),
  ];
}

function numbersOf(group: Readonly<Record<string, CallNumber>>, column: 0 | 1): number[] {
  return Object.values(group).flatMap((numbers) => numbers[column] ?? []);
}

/** The longest runs of numbers, first and last. */
function rangesOf(numbers: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

function allowRange([first, last]: [number, number]): Instruction[] {
  return [jumpIfAtLeast(first, 0, 2), jumpIfAtLeast(last + 1, 1, 0), allow];
}

/** How the calls are judged whose arguments matter. */
function judgements(pid: number, { network, processes }: FilterRules): [JudgedCall, Instruction[]][] {
  const refused = [refuse(errno.EPERM)];
  const ownOnly = allowValues(argument(0), [0, pid], errno.EPERM);
  const everywhere: [JudgedCall, Instruction[]][] = [
    ['fcntl', refuseValues(argument(1), fileSignals)],
    ['prlimit64', ownOnly],
    ['socket', network ? [allow] : allowValues(argument(0), Object.values(socketDomains), errno.EACCES)],
  ];
  if (processes) return [...everywhere, ['ioctl', refuseValues(argument(1), terminalRequests)]];
  return [
    ...everywhere,
    [
      'ioctl',
      network ? refuseValues(argument(1), terminalRequests) : allowValues(argument(1), harmlessRequests, errno.EPERM),
    ],
    // Files that it may only read keep their special bits; `copyFile` sets the others.
    ['fchmod', [load(argument(1)), jumpIfAnyBit(specialModeBits, 0, 1), refuse(errno.EPERM), allow]],
    // Times of an open file; a path could be any.
    ['utimensat', allowNull(1)],
    ['setpriority', allowValues(argument(1), [0], errno.EPERM)],
    ['sched_setaffinity', ownOnly],
    ['fork', refused],
    ['vfork', refused],
    ['execve', refused],
    ['execveat', refused],
    // Its flags lie in memory, which a filter cannot read. The C library then uses `clone`.
    ['clone3', [refuse(errno.ENOSYS)]],
    ['clone', [load(argument(0)), jumpIfAnyBit(cloneThread, 1, 0), refuse(errno.EPERM), allow]],
    ['tgkill', allowValues(argument(0), [pid], errno.EPERM)],
    // The signal 0 only asks whether a process exists.
    ['kill', [load(argument(1)), jumpIfEqual(0, 3, 0), ...allowValues(argument(0), [pid], errno.EPERM)]],
  ];
}

/** Allows a null pointer, whose both halves are 0. */
function allowNull(index: number): Instruction[] {
  const isZero = jumpIfEqual(0, 1, 0);
  const [low, high] = [argument(index), argument(index) + 4];
  return [load(low), isZero, refuse(errno.EPERM), load(high), isZero, refuse(errno.EPERM), allow];
}

/** Executes the block for one call. Each block ends with a decision. */
function onCall(call: number, block: readonly Instruction[]): Instruction[] {
  return [jumpIfEqual(call, 0, block.length), ...block];
}

function allowValues(offset: number, values: readonly number[], code: number): Instruction[] {
  const tests = values.map((value, i) => jumpIfEqual(value, values.length - i, 0));
  return [load(offset), ...tests, refuse(code), allow];
}

function refuseValues(offset: number, values: readonly number[]): Instruction[] {
  const tests = values.map((value, i) => jumpIfEqual(value, values.length - i, 0));
  return [load(offset), ...tests, allow, refuse(errno.EPERM)];
}

/** The instructions as the kernel reads them: 8 bytes each. */
export function encodeFilter(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * instructions.length);
  for (const [i, [code, ifTrue, ifFalse, operand]] of instructions.entries()) {
    bytes.writeUInt16LE(code, 8 * i);
    bytes.writeUInt8(ifTrue, 8 * i + 2);
    bytes.writeUInt8(ifFalse, 8 * i + 3);
    bytes.writeUInt32LE(operand >>> 0, 8 * i + 4);
  }
  return bytes;
}
