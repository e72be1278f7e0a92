import { fromUnit } from '../space/domain.ts';
import { assign, type Assignment } from '../space/space.ts';
import { generatorFor, type Question } from './question.ts';
import { firstUntried } from './untried.ts';
import { Generator } from '../../random/generator.ts';
import { directionNumbers } from './sobol-directions.ts';

const bits = 32;

/** Dimensions for which there are direction numbers. */
const maximumDimensions = directionNumbers.length + 1;

/** For each dimension, 32 direction numbers as binary fractions. */
let vectors: Uint32Array[] | null = null;

/**
 * The point `index` of the Sobol sequence, in Gray-code order, as fractions of 2^32; the first point is 0.
 *
 * Source: Bratley and Fox, "Algorithm 659: implementing Sobol's quasirandom sequence generator", 1988; direction
 * numbers of Joe and Kuo.
 *
 * @returns shape [dimensions]
 */
export function sobolPoint(index: number, dimensions: number): Uint32Array {
  if (dimensions > maximumDimensions) {
    throw new RangeError(
      `${dimensions} parameters: the quasi-random sampler takes at most ${maximumDimensions}. Use the random ` +
        'sampler, or search fewer.',
    );
  }
  vectors ??= [firstDimension(), ...directionNumbers.map(laterDimension)];
  const point = new Uint32Array(dimensions);
  for (let gray = (index ^ (index >>> 1)) >>> 0, bit = 0; gray !== 0; gray >>>= 1, bit++) {
    if ((gray & 1) === 0) continue;
    for (let dimension = 0; dimension < dimensions; dimension++) point[dimension] ^= vectors[dimension][bit];
  }
  return point;
}

/**
 * The point `index` of a scrambled Sobol sequence, in (0, 1). Scrambling by a hash is Owen's: it keeps the even
 * coverage of every elementary interval, and each point by itself is uniform.
 *
 * Source: Burley, "Practical hash-based Owen scrambling", 2020, with the constants of Vegdahl, "Building a better LK
 * hash", 2021.
 *
 * @returns shape [dimensions]
 */
export function scrambledSobolPoint(index: number, dimensions: number, seed: number): Float64Array {
  const generator = new Generator(seed, 'search/sobol');
  return Float64Array.from(sobolPoint(index, dimensions), (fraction) => {
    const scrambled = reverseBits(permute(reverseBits(fraction), generator.integer(2 ** 32 - 1)));
    return (scrambled + 0.5) / 2 ** bits;
  });
}

/** A permutation of the integers below 2^32 in which each bit depends on lower bits only (Laine and Karras, 2011). */
function permute(value: number, seed: number): number {
  let x = value;
  x ^= Math.imul(x, 0x3d20adea);
  x = (x + seed) | 0;
  x = Math.imul(x, (seed >>> 16) | 1);
  x ^= Math.imul(x, 0x05526c56);
  x ^= Math.imul(x, 0x53a22864);
  return x >>> 0;
}

function reverseBits(value: number): number {
  let x = value;
  x = ((x >>> 1) & 0x55555555) | ((x & 0x55555555) << 1);
  x = ((x >>> 2) & 0x33333333) | ((x & 0x33333333) << 2);
  x = ((x >>> 4) & 0x0f0f0f0f) | ((x & 0x0f0f0f0f) << 4);
  x = ((x >>> 8) & 0x00ff00ff) | ((x & 0x00ff00ff) << 8);
  return ((x >>> 16) | (x << 16)) >>> 0;
}

/** The van der Corput sequence in base 2. */
function firstDimension(): Uint32Array {
  return Uint32Array.from({ length: bits }, (_, bit) => 2 ** (bits - 1 - bit));
}

/**
 * Continues the initial numbers m₁ ... m_d by the recurrence that the coefficients of the primitive polynomial of
 * degree d give.
 */
function laterDimension([polynomial, ...initial]: readonly number[]): Uint32Array {
  const degree = initial.length;
  const vector = new Uint32Array(bits);
  for (const [bit, odd] of initial.entries()) vector[bit] = odd << (bits - 1 - bit);
  for (let bit = degree; bit < bits; bit++) {
    let next = vector[bit - degree] ^ (vector[bit - degree] >>> degree);
    for (let term = 1; term < degree; term++) {
      if ((polynomial >>> (degree - term)) & 1) next ^= vector[bit - term];
    }
    vector[bit] = next;
  }
  return vector;
}

/**
 * The point of the trial's number in a scrambled Sobol sequence, or the first one after it whose configuration no trial
 * has had: covers the space more evenly than random points.
 */
export function suggestQuasiRandom(question: Question): Assignment {
  const { space, seed } = question;
  let point = question.number;
  return firstUntried(question, generatorFor(question, 'quasi-random'), () => {
    const units = scrambledSobolPoint(point++, space.length, seed);
    return assign(space, ({ domain }, index) => fromUnit(domain, units[index]));
  });
}

/** Draws each parameter evenly over its scale, until no trial has had the configuration. */
export function suggestRandom(question: Question): Assignment {
  const generator = generatorFor(question, 'random');
  return firstUntried(question, generator, () => {
    // A parameter that takes no part draws too, so that a condition does not change the parameters after it.
    const units = question.space.map(() => generator.uniform());
    return assign(question.space, ({ domain }, index) => fromUnit(domain, units[index]));
  });
}
