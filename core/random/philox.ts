const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
/** Weyl increments of the key: the golden ratio and sqrt(3) - 1, as 32-bit fractions. */
const KEY_INCREMENT_0 = 0x9e3779b9;
const KEY_INCREMENT_1 = 0xbb67ae85;
const ROUNDS = 10;

/**
 * Philox4x32-10: a bijection of 128-bit counters, one for each 64-bit key, whose output passes BigCrush.
 * Any block can be computed directly, so the state of a stream is only a position.
 *
 * Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 *
 * @param counter shape [4], least significant word first
 * @param key shape [2]
 * @param block shape [4]: receives the random words
 */
export function philox4x32(counter: Uint32Array, key: Uint32Array, block: Uint32Array): void {
  let word0 = counter[0] | 0;
  let word1 = counter[1] | 0;
  let word2 = counter[2] | 0;
  let word3 = counter[3] | 0;
  let key0 = key[0] | 0;
  let key1 = key[1] | 0;
  for (let round = 0; round < ROUNDS; round++) {
    const high0 = multiplyHigh(MULTIPLIER_0, word0);
    const high1 = multiplyHigh(MULTIPLIER_1, word2);
    const low0 = Math.imul(MULTIPLIER_0, word0);
    const low1 = Math.imul(MULTIPLIER_1, word2);
    word0 = high1 ^ word1 ^ key0;
    word1 = low1;
    word2 = high0 ^ word3 ^ key1;
    word3 = low0;
    key0 = (key0 + KEY_INCREMENT_0) | 0;
    key1 = (key1 + KEY_INCREMENT_1) | 0;
  }
  block[0] = word0;
  block[1] = word1;
  block[2] = word2;
  block[3] = word3;
}

/**
 * Upper 32 bits of the unsigned 64-bit product, exactly. The halves are 16 bits wide so that no partial sum leaves 32
 * bits (Warren, "Hacker's Delight", 2nd edition, section 8-2).
 */
export function multiplyHigh(left: number, right: number): number {
  const leftLow = left & 0xffff;
  const leftHigh = left >>> 16;
  const rightLow = right & 0xffff;
  const rightHigh = right >>> 16;
  const middle = (Math.imul(leftHigh, rightLow) + (Math.imul(leftLow, rightLow) >>> 16)) >>> 0;
  const carried = (Math.imul(leftLow, rightHigh) + (middle & 0xffff)) >>> 0;
  return (Math.imul(leftHigh, rightHigh) + (middle >>> 16) + (carried >>> 16)) >>> 0;
}
