import { countEpoch } from '../../core/text/numbers.ts';
import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { z } from 'zod';
import { describePosition } from '../../core/safetensors/safetensors.ts';

export const sealSchema = z.object({ sha256: z.string(), bytes: z.int() });
/** Hash and size of a file's content. */
export type Seal = z.output<typeof sealSchema>;

export function sealOf(content: Uint8Array): Seal {
  return { sha256: hash('sha256', content, 'hex'), bytes: content.byteLength };
}

/** The rank and the moment of training that a sealed file belongs to. */
export interface SavedPosition {
  rank: number;
  epoch: number;
  step: number;
}

const pieceBytes = 1024 * 1024;

/**
 * Reads a file that was just written and flushed, and compares its size and SHA-256 with those of `content`. The system
 * may answer from its cache: this detects damage on the way to it, not what a disk loses later, which is detected on
 * reading.
 *
 * @param content the written bytes, in the safetensors format
 * @throws naming the file, the first tensor that differs, rank, epoch and step; the file is removed
 */
export async function requireReadBack(path: string, content: Uint8Array, seal: Seal & SavedPosition): Promise<void> {
  const found = await sealOfFile(path);
  if (found.sha256 === seal.sha256 && found.bytes === seal.bytes) return;
  const place = describePosition(firstDifference(content, await readFile(path)), content);
  await rm(path, { force: true });
  const { rank, epoch, step } = seal;
  throw new Error(
    `${path} reads back differently from what was written, from ${place} on (rank ${rank}, epoch ` +
      `${countEpoch(epoch)}, step ${step}): expected ${seal.bytes} bytes with SHA-256 ${seal.sha256}, found ` +
      `${found.bytes} bytes with SHA-256 ${found.sha256}. The last save is intact. Check disk and memory of this ` +
      'machine, or put the run on another disk, and resume it.',
  );
}

async function sealOfFile(path: string): Promise<Seal> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path, { highWaterMark: pieceBytes })) {
    hash.update(piece as Uint8Array);
    bytes += (piece as Uint8Array).byteLength;
  }
  return { sha256: hash.digest('hex'), bytes };
}

/** Offset of the first byte that differs, or where the shorter one ends; 0 where all are the same. */
function firstDifference(expected: Uint8Array, found: Uint8Array): number {
  const length = Math.min(expected.byteLength, found.byteLength);
  for (let i = 0; i < length; i++) if (expected[i] !== found[i]) return i;
  return expected.byteLength === found.byteLength ? 0 : length;
}
