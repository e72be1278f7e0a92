import { createRequire } from 'node:module';
import type koffiModule from 'koffi';

type Koffi = typeof koffiModule;

/** Calls of Linux's C library for confining this process. */
export interface NativeCalls {
  /** `syscall(2)` with up to five arguments. @returns its result; negative for an error */
  syscall(number: number, ...values: number[]): number;
  /** `prctl(2)` */
  prctl(option: number, value: number): number;
  /** Opens a path as a mere reference, which grants nothing. Negative where there is no such path. */
  openPath(path: string): number;
  close(file: number): void;
  /** A whole file, without asking Node's permission model; empty where it cannot be read. */
  readFile(path: string): Buffer;
  addressOf(bytes: Uint8Array): number;
  /** The error number of the last call. */
  errno(): number;
}

const pathOnly = 0o10000000;
const closeOnExec = 0o2000000;

/** Null where koffi, which calls the library, is not installed. */
export function loadNativeCalls(): NativeCalls | null {
  const koffi = requireKoffi();
  if (koffi === null) return null;
  const library = koffi.load(null);
  const word = 'uintptr_t';
  const syscall = library.func('syscall', 'long', ['long', word, word, word, word, word]) as (...v: number[]) => number;
  const prctl = library.func('prctl', 'int', ['int', word, word, word, word]) as (...v: number[]) => number;
  const open = library.func('open', 'int', ['str', 'int']) as (path: string, flags: number) => number;
  const read = library.func('read', 'intptr_t', ['int', '_Out_ uint8_t *', 'size_t']) as (
    file: number,
    bytes: Uint8Array,
    count: number,
  ) => number;
  const close = library.func('close', 'int', ['int']) as (file: number) => number;
  return {
    syscall: (number, ...values) => syscall(number, ...[...values, 0, 0, 0, 0, 0].slice(0, 5)),
    prctl: (option, value) => prctl(option, value, 0, 0, 0),
    openPath: (path) => open(path, pathOnly | closeOnExec),
    close: (file) => void close(file),
    readFile(path) {
      const file = open(path, closeOnExec);
      if (file < 0) return Buffer.alloc(0);
      const parts: Buffer[] = [];
      const bytes = new Uint8Array(65_536);
      for (let count = 1; count > 0;) {
        count = read(file, bytes, bytes.length);
        parts.push(Buffer.from(bytes.slice(0, Math.max(0, count))));
      }
      close(file);
      return Buffer.concat(parts);
    },
    addressOf: (bytes) => Number(koffi.address(bytes)),
    errno: () => koffi.errno(),
  };
}

function requireKoffi(): Koffi | null {
  try {
    return createRequire(import.meta.url)('koffi') as Koffi;
  } catch {
    return null;
  }
}
