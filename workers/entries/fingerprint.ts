import { parentPort, workerData } from 'node:worker_threads';
import { fingerprintBlock, type FingerprintShape, loadRdkit } from '../data/molecules/fingerprint-block.ts';

/**
 * Entry of a thread that computes fingerprints (`data/molecules/fingerprints.ts`): each message is a list of SMILES,
 * and is answered by their block.
 */

if (parentPort === null) throw new Error('This is the program of a thread.');
const port = parentPort;
const rdkit = await loadRdkit();
port.on('message', (smiles: string[]) => {
  const block = fingerprintBlock(rdkit, smiles, workerData as FingerprintShape);
  port.postMessage(block, [block.packed.buffer, block.isValid.buffer]);
});
