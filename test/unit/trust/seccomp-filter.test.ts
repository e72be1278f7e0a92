import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { architectures, buildFilter, encodeFilter, type Instruction } from '../../../workers/system/seccomp-filter.ts';

interface Call {
  audit: number;
  number: number;
  values: readonly number[];
}

/** Runs classic BPF as the kernel does (net/core/filter.c), for the instructions that the filter uses. @returns the verdict */
function execute(program: readonly Instruction[], { audit, number, values }: Call): number {
  const words = new Map([[0, number], [4, audit], ...values.map((value, i): [number, number] => [16 + 8 * i, value])]);
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

const cases = (['x64', 'arm64'] as const).map((name) => {
  const architecture = architectures[name];
  const program = (network: boolean, processes: boolean): readonly Instruction[] =>
    buildFilter(name, pid, { network, processes }) ?? [];
  const verdict = (call: string, values: readonly number[], network = false, processes = false): number => {
    const { audit = 0, calls = {} } = architecture ?? {};
    return execute(program(network, processes), { audit, number: calls[call], values });
  };
  return { name, architecture, program, verdict };
});

describe.each(cases)('the filter of system calls on $name', ({ architecture, program, verdict }) => {
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

  it('allows every other call, and none of another architecture (fast-check, seed 5)', () => {
    const { audit, firstForeign, calls } = architecture ?? { audit: 0, firstForeign: null, calls: {} };
    const known = new Set(Object.values(calls));
    const others = fc.nat(600).filter((number) => !known.has(number));
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), others, fc.array(fc.nat(), { maxLength: 6 }), (...drawn) => {
        const [network, processes, number, values] = drawn;
        const filter = program(network, processes);
        expect(execute(filter, { audit, number, values })).toBe(allowed);
        expect(execute(filter, { audit: audit ^ 1, number, values })).toBe(refusedWith(1));
        const foreign = { audit, number: (firstForeign ?? 0) + number, values };
        expect(execute(filter, foreign)).toBe(firstForeign === null ? allowed : refusedWith(1));
      }),
      { seed: 5, numRuns: 1000 },
    );
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
