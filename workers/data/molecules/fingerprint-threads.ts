import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ownModule } from '../../system/own-files.ts';
import type { FingerprintBlock, FingerprintShape } from './fingerprint-block.ts';

/** Molecules that a thread gets at a time: about a second of work. */
export const blockSize = 1000;

/** Whether this process may start threads, which its permissions decide. */
export function mayStartThreads(): boolean {
  // Without Node's permission model there is no such property.
  const permission = process.permission as typeof process.permission | undefined;
  return permission === undefined || permission.has('worker');
}

/** Fingerprints of blocks of SMILES, each block by the next free thread. The threads end with the last block. */
export async function fingerprintsInThreads(
  blocks: readonly (readonly string[])[],
  shape: FingerprintShape,
): Promise<FingerprintBlock[]> {
  const done: FingerprintBlock[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const thread = new Worker(new URL(ownModule('entries/fingerprint')), { workerData: shape, execArgv: [] });
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
