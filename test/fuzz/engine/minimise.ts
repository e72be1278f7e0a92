import { examine, type Finding } from './judge.ts';
import type { FuzzTarget } from './target.ts';

const maximumTries = 300;

/**
 * What makes two findings the same: the kind, and the innermost line of the product in the stack, or else the message
 * without numbers.
 */
export function signatureOf({ kind, message }: Finding): string {
  const frame = /\n\s+at .*?\/((core|src-main|workers)\/\S+?:\d+)/.exec(message)?.[1];
  return `${kind} ${frame ?? message.split('\n')[0].replaceAll(/\d+/g, 'n').slice(0, 60)}`;
}

/**
 * Removes ranges of an input, halves first, as long as the finding stays the same (Zeller and Hildebrandt's ddmin,
 * without sets).
 * @param current gets each input that is tried
 */
export async function minimise(
  target: FuzzTarget,
  bytes: Buffer,
  finding: Finding,
  current: { begin: (bytes: Uint8Array) => void },
): Promise<Uint8Array> {
  const signature = signatureOf(finding);
  let smallest = bytes;
  let tries = 0;
  for (let length = smallest.length >> 1; length >= 1 && tries < maximumTries; length >>= 1) {
    for (let from = 0; from + length <= smallest.length && tries < maximumTries; tries += 1) {
      const shorter = Buffer.concat([smallest.subarray(0, from), smallest.subarray(from + length)]);
      current.begin(shorter);
      const found = await examine(target, shorter);
      if (found !== null && signatureOf(found) === signature) smallest = shorter;
      else from += length;
    }
  }
  return smallest;
}
