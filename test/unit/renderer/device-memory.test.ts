import { expect, it } from 'vitest';
import { describeMemory } from '../../../src-renderer/views/configure/fields/device-memory.ts';

it('the memory of a device says what is free, or – and why that is not known', () => {
  const gib = 2 ** 30;
  expect(describeMemory({ memoryUsedBytes: 2 * gib, memoryTotalBytes: 8 * gib })).toEqual({
    text: '6 GiB free of 8 GiB',
    usedShare: 0.25,
    why: undefined,
  });
  expect(describeMemory({ memoryUsedBytes: null, memoryTotalBytes: 8 * gib })).toMatchObject({
    text: '– of 8 GiB',
    usedShare: null,
    why: expect.stringContaining('driver') as string,
  });
  expect(describeMemory({ memoryUsedBytes: null, memoryTotalBytes: null })).toMatchObject({
    text: '–',
    usedShare: null,
    why: expect.stringContaining('shares') as string,
  });
});
