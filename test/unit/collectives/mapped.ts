import { mkdtempSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import type { CollectiveArray } from '../../../core/protocol/wire/collectives.ts';
import type { ProcessGroup } from '../../../workers/collectives/process-group.ts';

/** Folders for the files of groups of ranks, kept until the test ends. */
interface Folders {
  next(): string;
  /** Names of the ranks' files in all folders. */
  named(): Promise<string[]>;
}

export function useFolders(): Folders {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tutti-memory-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  return {
    next: () => mkdtempSync(join(folder, 'run-')),
    named: async () => (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.bin')),
  };
}

/** Thirds have no exact float, so the order of a sum matters. */
export const thirds = (rank: number, length: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => (i - rank * 1000) / 3);

export const every = <T>(groups: readonly ProcessGroup[], call: (group: ProcessGroup) => Promise<T>): Promise<T[]> =>
  Promise.all(groups.map(call));

export function expectSameBits(actual: CollectiveArray, expected: CollectiveArray): void {
  expect(actual.length).toBe(expected.length);
  expect(bytesOf(actual).equals(bytesOf(expected))).toBe(true);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: CollectiveArray): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
