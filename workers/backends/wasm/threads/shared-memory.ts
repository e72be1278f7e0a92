/** Numbers of sections and flags of a module's binary format (WebAssembly core specification 5.5). */
const importSection = 2;
const memorySection = 5;
const sharedFlag = 2;

/**
 * A module with its memory declared as shared, so that the threads of a process can use the same one. The rest of the
 * module stays as it is: threads only take part in kernels that write to different places.
 *
 * @param module a binary that imports or defines one memory with a maximum, and imports nothing of the same name
 * @throws Error if it has no such memory
 */
export function withSharedMemory(module: Uint8Array): Uint8Array<ArrayBuffer> {
  const shared = Uint8Array.from(module);
  const flags = placeOfLimits(shared);
  if (flags === null || (shared[flags] & 1) === 0) {
    throw new Error('A WebAssembly module cannot be used by several threads: its memory has no maximum.');
  }
  shared[flags] |= sharedFlag;
  return shared;
}

/** Where the flags of the memory's limits are: behind its name in the imports, or first in the memories. */
function placeOfLimits(module: Uint8Array): number | null {
  const name = '\u0006memory\u0002';
  // Eight bytes of magic and version, then sections: an id, a size in LEB128, the content.
  for (let position = 8; position < module.length;) {
    const section = module[position++];
    const { value: size, end } = readSize(module, position);
    if (section === memorySection) return end + 1;
    const named = section === importSection ? Buffer.from(module.buffer, end, size).indexOf(name) : -1;
    if (named !== -1) return end + named + name.length;
    position = end + size;
  }
  return null;
}

/** An unsigned number in LEB128, and the place behind it. */
function readSize(module: Uint8Array, from: number): { value: number; end: number } {
  let value = 0;
  let end = from;
  for (let shift = 0; ; shift += 7) {
    const byte = module[end++];
    value |= (byte & 127) << shift;
    if (byte < 128) return { value, end };
  }
}
