import { hashName } from '../random/generator.ts';
import { philox4x32 } from '../random/philox.ts';

/**
 * Stochastic rounding of float32 to bfloat16, the upper half of a float32: of the two neighbours of a value, it takes
 * each with a probability that grows with its nearness, so that the mean of the results is the value (Gupta et al.,
 * 2015, section 3.1; Zamirai et al., 2020, "Revisiting BFloat16 Training"). With r uniform in 0 … 2¹⁶ − 1:
 *
 *     bits ← (bits + r) >> 16
 *
 * Rounding to the nearest value would lose each update that is smaller than half the distance to the next one, 1/256 to
 * 1/512 of the value: the slow mean of Adam's squares (β₂ = 0.999) would then never fall again. Infinities and NaN stay
 * what they are; a finite value between the largest bfloat16 and 2¹²⁸ may become infinite, as it does when rounded to
 * nearest.
 *
 * Two bfloat16 share a word: value 2j is the lower half of word j, value 2j + 1 the upper one. Word j draws
 * lowbias32((j + 1)·⌊2³²/φ⌋ ⊕ key) (Wellons, 2018, "Prospecting for hash functions"), of which each half is one r. The
 * wasm backend's kernel `packBfloat16` gives the same bits.
 */
export function packBfloat16(values: Float32Array, key: number, words: Int32Array): void {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  for (let j = 0; j < words.length; j++) {
    const random = randomWord(j, key);
    const lower = rounded(bits[2 * j], random & 0xffff) >>> 16;
    const upper = 2 * j + 1 < bits.length ? rounded(bits[2 * j + 1], random >>> 16) & 0xffff0000 : 0;
    words[j] = lower | upper;
  }
}

/** The exact values of packed bfloat16. */
export function unpackBfloat16(words: Int32Array, values: Float32Array): void {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < bits.length; i++) {
    const word = words[i >>> 1];
    bits[i] = i % 2 === 0 ? word << 16 : word & 0xffff0000;
  }
}

/** ⌈n / 2⌉ */
export function packedLength(values: number): number {
  return Math.ceil(values / 2);
}

/**
 * The key of one rounding of an array, from the run's seed: a word of Philox at a counter of the array's name and the
 * rounding's number.
 */
export function roundingKey(seed: number, name: string, number: number): number {
  const hash = hashName(`rounding/${name}`);
  const counter = Uint32Array.of(number, 0, Number(hash & 0xffffffffn), Number(hash >> 32n));
  const block = new Uint32Array(4);
  philox4x32(counter, Uint32Array.of(seed, 0), block);
  return block[0] | 0;
}

function randomWord(index: number, key: number): number {
  let x = Math.imul(index + 1, 0x9e3779b9) ^ key;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return x ^ (x >>> 16);
}

/** Bits whose upper half is the result. */
function rounded(bits: number, random: number): number {
  const magnitude = bits & 0x7fffffff;
  if (magnitude < 0x7f800000) return bits + random;
  // A NaN may have all of its payload in the lower half.
  return magnitude > 0x7f800000 ? bits | 0x00400000 : bits;
}
