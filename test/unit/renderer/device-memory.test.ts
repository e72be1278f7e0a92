import { expect, it } from 'vitest';
import type { Device } from '../../../core/protocol/machine/devices.ts';
import {
  describeMemory,
  describeNeed,
  plannedDevices,
  ranksAtOnce,
} from '../../../src-renderer/views/configure/device-plan.ts';

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

it('a plan needs the memory of the ranks that a device trains at once, too much where it exceeds what is free', () => {
  const gib = 2 ** 30;
  const device = { memoryUsedBytes: 2 * gib, memoryTotalBytes: 8 * gib };
  expect(describeNeed(device, 2, gib)).toEqual({ text: 'needs at least 2 GiB', share: 0.25, isTooMuch: false });
  expect(describeNeed(device, 7, gib)).toMatchObject({ text: 'needs at least 7 GiB', isTooMuch: true });
  expect(describeNeed({ memoryUsedBytes: null, memoryTotalBytes: null }, 2, gib)).toEqual({
    text: 'needs at least 2 GiB',
    share: 0,
    isTooMuch: false,
  });
  expect(describeNeed(device, 2, null)).toBeNull();
});

it('ranks of different waves are not in memory at once', () => {
  const device: Device = {
    id: 'cuda:0',
    kind: 'cuda',
    index: 0,
    processCount: 0,
    name: 'GPU',
    load: null,
    memoryUsedBytes: 0,
    memoryTotalBytes: 8 * 2 ** 30,
  };
  const plan = [0, 1, 2].map((rank) => ({ rank, device, wave: rank === 2 ? 1 : 0 }));
  expect(plannedDevices(plan).map(ranksAtOnce)).toEqual([2]);
});
