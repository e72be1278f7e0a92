/**
 * A filter for Linux's system calls (seccomp, `man 2 seccomp`), which a process sets for itself and can never remove. It refuses what Node's
 * permission model cannot, because native code is outside of that model: connections, other programs, and access to other processes.
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
  calls: Record<string, number>;
}

/** Numbers of the system calls, from linux/arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h. */
export const architectures: Partial<Record<NodeJS.Architecture, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    firstForeign: 0x4000_0000,
    calls: {
      ioctl: 16, socket: 41, clone: 56, fork: 57, vfork: 58, execve: 59, kill: 62, ptrace: 101, rt_sigqueueinfo: 129, mount: 165,
      umount2: 166, tkill: 200, tgkill: 234, add_key: 248, request_key: 249, keyctl: 250, unshare: 272, rt_tgsigqueueinfo: 297,
      perf_event_open: 298, open_by_handle_at: 304, setns: 308, process_vm_readv: 310, process_vm_writev: 311, bpf: 321, execveat: 322,
      pidfd_send_signal: 424, io_uring_setup: 425, clone3: 435, pidfd_getfd: 438,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    firstForeign: null,
    calls: {
      ioctl: 29, umount2: 39, mount: 40, unshare: 97, ptrace: 117, kill: 129, tkill: 130, tgkill: 131, rt_sigqueueinfo: 138, socket: 198,
      add_key: 217, request_key: 218, keyctl: 219, clone: 220, execve: 221, rt_tgsigqueueinfo: 240, perf_event_open: 241,
      open_by_handle_at: 265, setns: 268, process_vm_readv: 270, process_vm_writev: 271, bpf: 280, execveat: 281, pidfd_send_signal: 424,
      io_uring_setup: 425, clone3: 435, pidfd_getfd: 438,
    },
  },
}; // prettier-ignore

/** Ways to reach other processes, the kernel's keys and mounts; io_uring would bypass the filter. No project needs them. */
const alwaysRefused = [
  'ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_getfd', 'mount', 'umount2', 'unshare', 'setns', 'add_key', 'request_key',
  'keyctl', 'bpf', 'perf_event_open', 'open_by_handle_at', 'io_uring_setup',
]; // prettier-ignore

const signals = ['tkill', 'rt_sigqueueinfo', 'rt_tgsigqueueinfo', 'pidfd_send_signal'];

const errno = { EPERM: 1, EACCES: 13, ENOSYS: 38 };
const socketDomains = { unix: 1, netlink: 16 };
const cloneThread = 0x1_0000;
/** Requests that type into the user's terminal, `TIOCSTI` and `TIOCLINUX`. */
const terminalRequests = [0x5412, 0x541c];

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
 * The filter's instructions; null for an architecture without a table. The accumulator holds the number of the call at the start of each
 * block, and a block that does not concern the call continues with the next.
 */
export function buildFilter(arch: NodeJS.Architecture, pid: number, rules: FilterRules): Instruction[] | null {
  const architecture = architectures[arch];
  if (architecture === undefined) return null;
  const { audit, firstForeign, calls } = architecture;
  const numbersOf = (names: readonly string[]): number[] => names.flatMap((name) => calls[name] ?? []);
  return [
    load(architectureOffset),
    jumpIfEqual(audit, 1, 0),
    refuse(errno.EPERM),
    load(callOffset),
    ...(firstForeign === null ? [] : [jumpIfAtLeast(firstForeign, 0, 1), refuse(errno.EPERM)]),
    ...numbersOf(alwaysRefused).flatMap((call) => onCall(call, [refuse(errno.EPERM)])),
    ...onCall(calls.ioctl, refuseValues(argument(1), terminalRequests)),
    ...(rules.network
      ? []
      : onCall(calls.socket, allowValues(argument(0), Object.values(socketDomains), errno.EACCES))),
    ...(rules.processes ? [] : refuseProcesses(numbersOf, calls, pid)),
    allow,
  ];
}

/** No new processes (threads are allowed), no other programs, and no signals to other processes. */
function refuseProcesses(
  numbersOf: (names: readonly string[]) => number[],
  calls: Record<string, number>,
  pid: number,
): Instruction[] {
  return [
    ...numbersOf(['fork', 'vfork', 'execve', 'execveat', ...signals]).flatMap((call) =>
      onCall(call, [refuse(errno.EPERM)]),
    ),
    // Its flags lie in memory, which a filter cannot read. The C library then uses `clone`.
    ...onCall(calls.clone3, [refuse(errno.ENOSYS)]),
    ...onCall(calls.clone, [load(argument(0)), jumpIfAnyBit(cloneThread, 1, 0), refuse(errno.EPERM), allow]),
    ...onCall(calls.tgkill, allowValues(argument(0), [pid], errno.EPERM)),
    // The signal 0 only asks whether a process exists.
    ...onCall(calls.kill, [load(argument(1)), jumpIfEqual(0, 3, 0), ...allowValues(argument(0), [pid], errno.EPERM)]),
  ];
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
