import type * as fileSystem from 'node:fs';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { growFile } from '../../../workers/collectives/memory/rank-files.ts';

const freeBlocks = vi.hoisted(() => ({ count: 0 }));
vi.mock('node:fs', async (importActual) => ({
  ...(await importActual<typeof fileSystem>()),
  statfsSync: () => ({ bavail: freeBlocks.count, bsize: 10 }),
}));

let folder = '';
let file = 0;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-grow-'));
  file = openSync(join(folder, 'file'), 'wx+');
});
afterEach(async () => {
  closeSync(file);
  await rm(folder, { recursive: true });
});

it('extends a file with zeros if the disk has twice the room for the addition', () => {
  freeBlocks.count = 600_000;
  expect(growFile(file, folder, 0, 1000)).toBe(true);
  // More than one write, and not a multiple of it.
  expect(growFile(file, folder, 1000, 3_001_000)).toBe(true);
  const content = readFileSync(join(folder, 'file'));
  expect(content.length).toBe(3_001_000);
  expect(content.every((byte) => byte === 0)).toBe(true);
});

it('leaves the file unchanged if one byte of that room is missing', () => {
  freeBlocks.count = 100;
  expect(growFile(file, folder, 0, 501)).toBe(false);
  expect(fstatSync(file).size).toBe(0);
  expect(growFile(file, folder, 200, 700)).toBe(true);
});
