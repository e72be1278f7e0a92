import { closeSync, openSync } from 'node:fs';
import type koffiModule from 'koffi';
import type { LibraryHandle } from 'koffi';

/** A file mapped into this process's memory, until the process ends. */
export interface Mapping {
  /** Of its first byte. */
  address: number;
  buffer: ArrayBuffer;
}

/** Calls of the system's C library that Node does not offer. */
export interface Libc {
  /**
   * Maps the first bytes of a file, by its descriptor, which may be closed afterwards. Writes to a `shared` mapping are
   * visible to all processes that map the file; writes to a `private` mapping are not. A write to a `read` mapping, or
   * past the file's end, ends the process.
   */
  map(file: number, bytes: number, access: 'shared' | 'read' | 'private'): Mapping;
  /** Null where the system has none. */
  futex: Futex | null;
}

/** Linux: sleeps until another process that maps the same word of memory has changed it. */
export interface Futex {
  /** Sleeps while the word at `address` is `value`, at most for the time at `timeoutAddress` (a `timespec`). */
  wait(address: number, value: number, timeoutAddress: number): void;
  /** Wakes all processes that wait for this word. */
  wake(address: number): void;
}

/** Values of `sys/mman.h`, the same on Linux and macOS. */
const protections = { shared: 0b11, read: 0b01, private: 0b11 };
const flags = { shared: 1, read: 1, private: 2 };

/** Number of the system call, by architecture. */
const futexNumbers: Partial<Record<NodeJS.Architecture, number>> = { x64: 202, arm64: 98 };
const futexWait = 0;
const futexWake = 1;

/** @throws Error when koffi, which calls the library, is not installed, or the library has no `mmap` */
export async function loadLibc(): Promise<Libc> {
  const { default: koffi } = await import('koffi');
  const library = koffi.load(null);
  const types = ['uintptr_t', 'size_t', 'int', 'int', 'int', 'int64_t'];
  const mmap = library.func('mmap', 'intptr_t', types) as (...args: number[]) => number;
  return {
    map(file, bytes, access) {
      const address = mmap(0, bytes, protections[access], flags[access], file, 0);
      if (address === -1) throw new Error(`${bytes} bytes of a file could not be mapped: errno ${koffi.errno()}.`);
      return { address, buffer: koffi.view(address, bytes) };
    },
    futex: bindFutex(library),
  };
}

/** `syscall` takes any number of arguments, which these processors pass like those of a function that takes seven. */
function bindFutex(library: LibraryHandle): Futex | null {
  const number = process.platform === 'linux' ? futexNumbers[process.arch] : undefined;
  if (number === undefined) return null;
  const types = ['long', 'uintptr_t', 'long', 'long', 'uintptr_t', 'uintptr_t', 'long'];
  const call = library.func('syscall', 'long', types) as (...args: number[]) => number;
  return {
    wait: (address, value, timeoutAddress) => void call(number, address, futexWait, value, timeoutAddress, 0, 0),
    wake: (address) => void call(number, address, futexWake, 0x7fff_ffff, 0, 0, 0),
  };
}

/** Maps a whole file, which must not change. Pages that this process writes to become private copies. */
export async function mapFile(path: string, bytes: number): Promise<ArrayBuffer> {
  const libc = await loadLibc();
  const file = openSync(path, 'r');
  try {
    return libc.map(file, bytes, 'private').buffer;
  } finally {
    closeSync(file);
  }
}

export type Koffi = typeof koffiModule;

/** The package that calls native libraries. @param what needs it @throws Error if it is not installed */
export async function loadKoffi(what: string): Promise<Koffi> {
  try {
    return (await import('koffi')).default;
  } catch (error) {
    throw new Error(`${what} needs the package koffi, which is not installed (npm ci --include=optional does).`, {
      cause: error,
    });
  }
}
