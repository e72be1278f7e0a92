import { expect, it } from 'vitest';
import { MappedWord } from '../../../workers/collectives/memory/mapped-word.ts';
import type { Futex } from '../../../workers/system/libc.ts';

it('a counter reaches its value before, at and after 2^31 and 2^32', () => {
  const buffer = new ArrayBuffer(64);
  const word = new MappedWord({} as Futex, { buffer, address: 0 }, 0);
  for (const start of [0, 2 ** 31 - 3, 2 ** 32 - 3]) {
    new Int32Array(buffer)[0] = start | 0;
    for (let value = start + 1; value < start + 6; value++) {
      expect(word.incrementsTo(value), String(value)).toBe(true);
      expect(word.hasReached(value)).toBe(true);
      expect(word.hasReached(value + 1)).toBe(false);
    }
    expect(word.incrementsTo(start + 7)).toBe(false);
  }
});
