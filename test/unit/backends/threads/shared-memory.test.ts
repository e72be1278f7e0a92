import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { withSharedMemory } from '../../../../workers/backends/wasm/threads/shared-memory.ts';

/** The smallest modules with a memory (WebAssembly core specification 5.5): magic, version, one section. */
const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const defined = (...limits: number[]): Uint8Array => Uint8Array.of(...header, 5, limits.length + 1, 1, ...limits);

describe('a module whose memory threads share', () => {
  it('differs by one bit, and is valid', () => {
    // Flags 1 (a maximum) become 3 (a maximum, shared): at least 1 page, at most 2.
    expect(withSharedMemory(defined(1, 1, 2))).toEqual(defined(3, 1, 2));
    expect(WebAssembly.validate(withSharedMemory(defined(1, 1, 2)))).toBe(true);
  });

  it.each(['relaxed', 'relaxed-wide', 'deterministic', 'deterministic-wide'])(
    'may import it: the kernels %s take a shared memory, and then no other',
    async (name) => {
      const file = new URL(`../../../../workers/kernels/${name}.wasm`, import.meta.url);
      const module = new WebAssembly.Module(withSharedMemory(await readFile(file)));
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
      expect(() => new WebAssembly.Instance(module, { env: { memory } })).toThrow(/shared/);
    },
  );

  it('must have a maximum', () => {
    expect(() => withSharedMemory(defined(0, 1))).toThrow(/its memory has no maximum/);
    expect(() => withSharedMemory(Uint8Array.from(header))).toThrow(/its memory has no maximum/);
  });
});
