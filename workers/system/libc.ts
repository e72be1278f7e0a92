import { closeSync, openSync } from 'node:fs';

/** `mmap` of the system's C library, which Node has no way to. */
export interface Mapper {
  /**
   * A file's bytes as memory of this process, by its descriptor, which may be closed afterwards; the memory stays until the process ends
   * or unmaps it. What is written to a `shared` mapping all who map the file see; what is written to a `private` one nobody else sees.
   * A mapping of a file that was opened to be read only must be `read`: to write to it ends the process.
   */
  map(file: number, bytes: number, access: 'shared' | 'read' | 'private'): ArrayBuffer;
}

/** Values of `sys/mman.h`, the same on Linux and macOS. */
const protections = { shared: 0b11, read: 0b01, private: 0b11 };
const flags = { shared: 1, read: 1, private: 2 };

/** @throws Error where koffi, which calls the library, is not installed, or the library has no `mmap` */
export async function loadMapper(): Promise<Mapper> {
  const { default: koffi } = await import('koffi');
  const mmap = koffi.load(null).func('mmap', 'intptr_t', ['uintptr_t', 'size_t', 'int', 'int', 'int', 'int64_t']) as (
    ...args: number[]
  ) => number;
  return {
    map(file, bytes, access) {
      const address = mmap(0, bytes, protections[access], flags[access], file, 0);
      if (address === -1) throw new Error(`${bytes} bytes of a file could not be mapped: errno ${koffi.errno()}.`);
      return koffi.view(address, bytes);
    },
  };
}

/** A whole file, to which others must not write meanwhile; a process that writes to these bytes gets pages of its own. */
export async function mapFile(path: string, bytes: number): Promise<ArrayBuffer> {
  const mapper = await loadMapper();
  const file = openSync(path, 'r');
  try {
    return mapper.map(file, bytes, 'private');
  } finally {
    closeSync(file);
  }
}
