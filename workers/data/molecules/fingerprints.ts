import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { makeFolder } from '../../../core/node/make-folder.ts';
import type { DataFolders } from '../sources/locate.ts';
import { fingerprintBlock, type FingerprintBlock, type FingerprintShape, loadRdkit } from './fingerprint-block.ts';
import { ownModule } from '../../system/own-copies.ts';
import { mayStartThreads, OwnThread } from '../../system/own-threads.ts';

/** Changes where other code would compute other fingerprints. */
const version = 'morgan-1 rdkit-2026.09.1';

/** How to compute fingerprints. */
export interface FingerprintOptions {
  /** Folders of data: fingerprints are kept in the cache, by the hash of all SMILES. */
  folders: Pick<DataFolders, 'cache'>;
  /** Radius in bonds; 2 by default. */
  radius?: number;
  /** Length in bits, a multiple of 8; 1,024 by default. */
  bits?: number;
}

/**
 * Morgan fingerprints of N molecules, computed once and then read from the cache: by all cores where the process may
 * start threads, else by one.
 * @throws RangeError for a radius or a length that RDKit does not compute
 */
export async function moleculeFingerprints(
  smiles: readonly string[],
  { folders, radius = 2, bits = 1024 }: FingerprintOptions,
): Promise<FingerprintBlock> {
  const shape = { radius, bits };
  if (!(
    Number.isInteger(radius) &&
    radius >= 0 &&
    radius <= 10 &&
    Number.isInteger(bits) &&
    bits > 0 &&
    bits % 8 === 0
  )) {
    throw new RangeError(
      `Fingerprints of radius ${radius} and ${bits} bits are not possible: give a whole radius from 0 to 10 ` +
        'and a multiple of 8 bits.',
    );
  }
  const folder = join(folders.cache, 'fingerprints');
  const path = join(folder, `${keyOf(smiles, shape)}.bin`);
  if (existsSync(path)) {
    const kept = readKept(await readFile(path), smiles.length, bits / 8);
    if (kept !== null) return kept;
  }
  const block = await compute(smiles, shape);
  await makeFolder(folder);
  const sum = createHash('sha256').update(block.isValid).update(block.packed).digest();
  await writeFileAtomic(path, Buffer.concat([sum, block.isValid, block.packed]));
  return block;
}

async function compute(smiles: readonly string[], shape: FingerprintShape): Promise<FingerprintBlock> {
  const blocks = Array.from({ length: Math.ceil(smiles.length / blockSize) }, (_, at) =>
    smiles.slice(at * blockSize, (at + 1) * blockSize),
  );
  if (blocks.length < 2 || !mayStartThreads()) return fingerprintBlock(await loadRdkit(), smiles, shape);
  const done = await fingerprintsInThreads(blocks, shape);
  return {
    packed: new Uint8Array(Buffer.concat(done.map(({ packed }) => packed))),
    isValid: new Uint8Array(Buffer.concat(done.map(({ isValid }) => isValid))),
  };
}

/** SHA-256 of everything that decides the fingerprints. Lengths keep two texts apart from one. */
function keyOf(smiles: readonly string[], { radius, bits }: FingerprintShape): string {
  const hash = createHash('sha256').update(`${version} ${radius} ${bits} ${smiles.length}\n`);
  for (const text of smiles) hash.update(`${text.length} ${text}\n`);
  return hash.digest('hex');
}

/**
 * A file is the SHA-256 of the rest, one byte a molecule for its validity, then the bits.
 * @returns null if it is damaged
 */
function readKept(bytes: Buffer, count: number, bytesEach: number): FingerprintBlock | null {
  const rest = bytes.subarray(32);
  if (rest.length !== count * (bytesEach + 1)) return null;
  if (!createHash('sha256').update(rest).digest().equals(bytes.subarray(0, 32))) return null;
  return { isValid: new Uint8Array(rest.subarray(0, count)), packed: new Uint8Array(rest.subarray(count)) };
}

/** Molecules that a thread gets at a time: about a second of work. */
const blockSize = 1000;

/** Fingerprints of blocks of SMILES, each block by the next free thread. The threads end with the last block. */
export async function fingerprintsInThreads(
  blocks: readonly (readonly string[])[],
  shape: FingerprintShape,
): Promise<FingerprintBlock[]> {
  const done: FingerprintBlock[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const thread = new OwnThread(new URL(ownModule('entries/fingerprint')), { workerData: shape, execArgv: [] });
    const ended = once(thread, 'exit').then(([code]: number[]) => {
      throw new Error(`A thread that computes fingerprints ended with code ${code}.`);
    });
    // It ends after its last block too.
    ended.catch(() => undefined);
    try {
      for (let own = next++; own < blocks.length; own = next++) {
        thread.postMessage(blocks[own], []);
        [done[own]] = (await Promise.race([once(thread, 'message'), ended])) as [FingerprintBlock];
      }
    } finally {
      await thread.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), blocks.length) }, work));
  return done;
}
