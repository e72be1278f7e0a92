import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  architectures,
  buildFilter,
  buildRingFilter,
  encodeFilter,
  type Instruction,
} from '../../../workers/system/seccomp-filter.ts';
import { callGroups } from '../../../workers/system/system-calls.ts';

interface Call {
  audit: number;
  number: number;
  values: readonly number[];
}

/**
 * Runs classic BPF as the kernel does (net/core/filter.c), for the instructions that the filter uses.
 * @returns the verdict
 */
function execute(program: readonly Instruction[], { audit, number, values }: Call): number {
  const halves = values.flatMap((value, i): [number, number][] => [
    [16 + 8 * i, value % 2 ** 32],
    [20 + 8 * i, Math.floor(value / 2 ** 32)],
  ]);
  const words = new Map([[0, number], [4, audit], ...halves]);
  let accumulator = 0;
  for (let i = 0; i < program.length; i += 1) {
    const [code, ifTrue, ifFalse, operand] = program[i];
    if (code === 0x06) return operand;
    if (code === 0x20) accumulator = words.get(operand) ?? 0;
    else i += holds(code, accumulator, operand) ? ifTrue : ifFalse;
  }
  throw new Error('The program ended without a verdict.');
}

function holds(code: number, accumulator: number, operand: number): boolean {
  if (code === 0x15) return accumulator === operand;
  if (code === 0x35) return accumulator >= operand;
  if (code === 0x45) return (accumulator & operand) !== 0;
  throw new Error(`The filter uses the instruction ${code}.`);
}

const allowed = 0x7fff_0000;
const refusedWith = (errno: number): number => 0x0005_0000 | errno;
const pid = 4321;

/**
 * Calls that no project without programs may make, which the tables of the product need not name: chmod on arm64 is
 * fchmodat.
 */
const others: Record<string, readonly [number, number]> = {
  chmod: [90, 53], fchmodat: [268, 53], fchmodat2: [452, 452], fchownat: [260, 54], fchown: [93, 55], setxattr: [188, 5],
  getxattr: [191, 8], inotify_init1: [294, 26], inotify_add_watch: [254, 27], fanotify_init: [300, 262], mknodat: [259, 33],
  setuid: [105, 146], shmget: [29, 194], pidfd_open: [434, 434], setsid: [112, 157], chroot: [161, 51],
}; // prettier-ignore

function numbers(column: 0 | 1): Record<string, number> {
  const all = Object.values(callGroups).flatMap((group) => Object.entries(group));
  return Object.fromEntries(all.flatMap(([name, own]) => (own[column] === null ? [] : [[name, own[column]]])));
}

const cases = (['x64', 'arm64'] as const).map((name) => {
  const architecture = architectures[name];
  const program = (network: boolean, processes: boolean): readonly Instruction[] =>
    buildFilter(name, pid, { network, processes }) ?? [];
  const verdict = (call: string, values: readonly number[], network = false, processes = false): number => {
    const number = numbers(architecture?.column ?? 0)[call] ?? others[call][architecture?.column ?? 0];
    return execute(program(network, processes), { audit: architecture?.audit ?? 0, number, values });
  };
  return { name, architecture, program, verdict };
});

describe.each(cases)('the filter of system calls on $name', ({ name, architecture, program, verdict }) => {
  it('allows Unix sockets and refuses the internet, unless the project may use the network', () => {
    const [unix, internet, internet6, packet, vsock] = [1, 2, 10, 17, 40];
    expect(verdict('socket', [unix])).toBe(allowed);
    for (const domain of [internet, internet6, packet, vsock]) {
      expect(verdict('socket', [domain])).toBe(refusedWith(13));
      expect(verdict('socket', [domain], true)).toBe(allowed);
    }
  });

  it('allows threads and refuses processes, unless the project may start programs', () => {
    // What glibc passes for a thread, and for fork (CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD).
    expect(verdict('clone', [0x3d0f00])).toBe(allowed);
    expect(verdict('clone', [0x1200011])).toBe(refusedWith(1));
    expect(verdict('clone', [0x1200011], false, true)).toBe(allowed);
    expect(verdict('clone3', [])).toBe(refusedWith(38));
    expect(verdict('execve', [])).toBe(refusedWith(1));
    expect(verdict('execve', [], false, true)).toBe(allowed);
  });

  it('allows signals to itself only, and asking whether a process exists', () => {
    expect(verdict('kill', [pid, 9])).toBe(allowed);
    expect(verdict('kill', [1, 0])).toBe(allowed);
    expect(verdict('kill', [1, 9])).toBe(refusedWith(1));
    expect(verdict('kill', [0, 15])).toBe(refusedWith(1));
    expect(verdict('tgkill', [pid, 5, 6])).toBe(allowed);
    expect(verdict('tgkill', [1, 1, 6])).toBe(refusedWith(1));
  });

  it('refuses to type into the terminal and to reach into other processes, whatever the project may do', () => {
    expect(verdict('ioctl', [0, 0x5412], true, true)).toBe(refusedWith(1));
    expect(verdict('ioctl', [0, 0x541c], true, true)).toBe(refusedWith(1));
    expect(verdict('ioctl', [0, 0x5413], true, true)).toBe(allowed);
    for (const call of ['ptrace', 'process_vm_writev', 'io_uring_setup', 'bpf']) {
      expect(verdict(call, [], true, true)).toBe(refusedWith(1));
    }
  });

  it('refuses rights, owners, times, attributes and watches of files, which Landlock does not limit', () => {
    for (const call of Object.keys(others)) {
      const recent = others[call][0] >= 424;
      expect(verdict(call, [], true), call).toBe(refusedWith(recent ? 38 : 1));
      expect(verdict(call, [], false, true), call).toBe(allowed);
    }
    // By descriptor only, never by path, and no set-user-ID bit.
    expect(verdict('utimensat', [5, 0])).toBe(allowed);
    expect(verdict('utimensat', [5, 0x7f00_0000])).toBe(refusedWith(1));
    expect(verdict('utimensat', [5, 0x10_0000_0000])).toBe(refusedWith(1));
    expect(verdict('fchmod', [5, 0o644])).toBe(allowed);
    for (const mode of [0o4755, 0o2755, 0o1777]) expect(verdict('fchmod', [5, mode])).toBe(refusedWith(1));
  });

  it('refuses signals by files, and limits, priorities and cores of other processes', () => {
    const [setOwner, setSignal, setOwnerEx, duplicate, setFlags] = [8, 10, 15, 1030, 4];
    for (const command of [setOwner, setSignal, setOwnerEx]) {
      expect(verdict('fcntl', [3, command, 1])).toBe(refusedWith(1));
      expect(verdict('fcntl', [3, command, 1], true, true)).toBe(refusedWith(1));
    }
    for (const command of [duplicate, setFlags]) expect(verdict('fcntl', [3, command])).toBe(allowed);
    for (const call of ['prlimit64', 'sched_setaffinity']) {
      expect(verdict(call, [0])).toBe(allowed);
      expect(verdict(call, [pid])).toBe(allowed);
      expect(verdict(call, [1])).toBe(refusedWith(1));
    }
    expect(verdict('setpriority', [0, 0, 10])).toBe(allowed);
    expect(verdict('setpriority', [0, 1, 10])).toBe(refusedWith(1));
  });

  it('refuses io_uring before Node starts again, so that no ring bypasses it', () => {
    const { audit = 0, column = 0 } = architecture ?? {};
    const filter = buildRingFilter(name) ?? [];
    for (const [call, number] of Object.entries(numbers(column))) {
      const verdictThere = execute(filter, { audit, number, values: [] });
      expect(verdictThere, call).toBe(call.startsWith('io_uring') ? refusedWith(38) : allowed);
    }
  });

  it('refuses every call that no table names unless the project starts programs, and all of another architecture (fast-check, seed 5)', () => {
    const { audit, firstForeign, column } = architecture ?? { audit: 0, firstForeign: null, column: 0 };
    const known = new Set(Object.values(numbers(column)));
    const unknown = fc.nat(600).filter((number) => !known.has(number));
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), unknown, fc.array(fc.nat(), { maxLength: 6 }), (...drawn) => {
        const [network, processes, number, values] = drawn;
        const filter = program(network, processes);
        const verdictHere = execute(filter, { audit, number, values });
        expect(verdictHere).toBe(processes ? allowed : refusedWith(number >= 424 ? 38 : 1));
        expect(execute(filter, { audit: audit ^ 1, number, values })).toBe(refusedWith(1));
        const foreign = { audit, number: (firstForeign ?? 0) + number, values };
        expect(execute(filter, foreign)).toBe(firstForeign === null ? verdictHere : refusedWith(1));
      }),
      { seed: 5, numRuns: 1000 },
    );
  });

  it('allows what Node and the C library need, with any arguments', () => {
    for (const call of [
      'read',
      'write',
      'openat',
      'mmap',
      'futex',
      'epoll_pwait',
      'rt_sigreturn',
      'exit_group',
      'sendmsg',
    ]) {
      expect(verdict(call, [1, 2, 3, 4]), call).toBe(allowed);
    }
  });

  it('is short enough for the kernel, in 8 bytes an instruction', () => {
    const filter = program(false, false);
    expect(filter.length).toBeLessThan(4096);
    expect(encodeFilter(filter)).toHaveLength(8 * filter.length);
    expect([...encodeFilter([[0x20, 0, 0, 4]])]).toEqual([0x20, 0, 0, 0, 4, 0, 0, 0]);
  });
});

it('does not exist for architectures without a table', () => {
  expect(buildFilter('riscv64', pid, { network: false, processes: false })).toBeNull();
});
