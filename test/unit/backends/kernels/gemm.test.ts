import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TensorMemory } from '../../../../workers/backends/wasm/memory/tensor-memory.ts';
import type { MatrixProducts } from '../../../../workers/backends/wasm/gemm.ts';
import { propertyOptions, spread } from './fill.ts';
import { kernelsAlone, place } from '../memory/wasm-memory.ts';

const builds = [await kernelsAlone('deterministic'), await kernelsAlone('relaxed')];

interface Case {
  transposeA: boolean;
  transposeB: boolean;
  m: number;
  n: number;
  k: number;
  beta: 0 | 1;
}

const cases = (sizes: { m: number; n: number; k: number }): fc.Arbitrary<Case> =>
  fc.record({
    transposeA: fc.boolean(),
    transposeB: fc.boolean(),
    m: fc.integer({ min: 1, max: sizes.m }),
    n: fc.integer({ min: 1, max: sizes.n }),
    k: fc.integer({ min: 1, max: sizes.k }),
    beta: fc.constantFrom(0 as const, 1 as const),
  });

/** Sums along k in order, in blocks of 256, with every step rounded to float32. */
function reference({ transposeA, transposeB, m, n, k, beta }: Case, a: Float32Array, b: Float32Array, c: Float32Array) {
  return Float32Array.from(c, (start, index) => {
    const [i, j] = [Math.floor(index / n), index % n];
    let total = beta === 1 ? start : 0;
    for (let block = 0; block < k; block += 256) {
      let sum = 0;
      for (let p = block; p < Math.min(k, block + 256); p++) {
        const left = a[transposeA ? p * m + i : i * k + p];
        sum = Math.fround(sum + Math.fround(left * b[transposeB ? j * k + p : p * n + j]));
      }
      total = Math.fround(total + sum);
    }
    return total;
  });
}

interface Build extends MatrixProducts {
  memory: TensorMemory;
}

function compute(
  { memory, gemm }: Build,
  { transposeA, transposeB, m, n, k, beta }: Case,
  operands: Float32Array[],
): Float32Array {
  const [a, b, c] = operands.map((values) => place(memory, values));
  gemm(transposeA, transposeB, m, n, k, a, transposeA ? m : k, b, transposeB ? k : n, beta, c, n);
  const result = memory.floats(c, m * n).slice();
  for (const address of [a, b, c]) memory.free(address);
  return result;
}

/** The same with op(B) prepared and used twice; A is not transposed. */
function computePrepared(
  { memory, prepare }: Build,
  { transposeB, m, n, k, beta }: Case,
  operands: Float32Array[],
): Float32Array[] {
  const [a, b, c, again] = [...operands, operands[2]].map((values) => place(memory, values));
  const product = prepare(transposeB, m, n, k, b, transposeB ? k : n);
  product.multiply(a, k, beta, c, n);
  product.multiply(a, k, beta, again, n);
  product.free();
  const results = [c, again].map((address) => memory.floats(address, m * n).slice());
  for (const address of [a, b, c, again]) memory.free(address);
  return results;
}

const operandsOf = ({ m, n, k }: Case) => [spread(m * k, 1), spread(k * n, 2), spread(m * n, 3)];

describe.each(['narrow', 'wide'] as const)('a matrix product in %s tiles', (name) => {
  const [deterministic, relaxed] = builds.map(({ memory, [name]: products }): Build => ({ memory, ...products }));

  it('of the deterministic build equals a plain loop, bit for bit', () => {
    fc.assert(
      fc.property(cases({ m: 40, n: 40, k: 40 }), (shape) => {
        const [a, b, c] = operandsOf(shape);
        expect(compute(deterministic, shape, [a, b, c])).toEqual(reference(shape, a, b, c));
      }),
      propertyOptions,
    );
  });

  it('has the same bits with a prepared matrix', () => {
    fc.assert(
      fc.property(cases({ m: 130, n: 40, k: 300 }), (drawn) => {
        const shape = { ...drawn, transposeA: false };
        const operands = operandsOf(shape);
        const expected = compute(deterministic, shape, operands);
        expect(computePrepared(deterministic, shape, operands)).toEqual([expected, expected]);
      }),
      propertyOptions,
    );
  });

  it.each([
    { m: 7, n: 1040, k: 600, transposeB: false },
    { m: 7, n: 1025, k: 257, transposeB: true },
  ])('has them with a prepared matrix of several blocks: $m x $n x $k, transposed: $transposeB', (size) => {
    const shape = { ...size, transposeA: false, beta: 1 as const };
    const operands = operandsOf(shape);
    const expected = compute(deterministic, shape, operands);
    expect(computePrepared(deterministic, shape, operands)).toEqual([expected, expected]);
  });

  it.each([
    { transposeA: false, transposeB: false, m: 125, n: 9, k: 600, beta: 0 as const },
    { transposeA: true, transposeB: true, m: 7, n: 1030, k: 300, beta: 1 as const },
    { transposeA: true, transposeB: false, m: 121, n: 1025, k: 257, beta: 0 as const },
    { transposeA: false, transposeB: true, m: 241, n: 17, k: 512, beta: 1 as const },
    { transposeA: false, transposeB: false, m: 122, n: 47, k: 513, beta: 1 as const },
  ])('also across blocks: $m x $n x $k, transposed: $transposeA, $transposeB', (shape) => {
    const [a, b, c] = operandsOf(shape);
    expect(compute(deterministic, shape, [a, b, c])).toEqual(reference(shape, a, b, c));
  });

  it('of the relaxed build differs at most by rounding', () => {
    fc.assert(
      fc.property(cases({ m: 70, n: 70, k: 70 }), (shape) => {
        const [a, b, c] = operandsOf(shape);
        const expected = reference(shape, a, b, c);
        compute(relaxed, shape, [a, b, c]).forEach((value, i) =>
          expect(Math.abs(value - expected[i])).toBeLessThan(2e-7 * (shape.k + 1)),
        );
      }),
      propertyOptions,
    );
  });

  it('multiplies parts of larger matrices and leaves the rest of C unchanged', () => {
    const { memory, gemm } = deterministic;
    const [a, b] = [place(memory, Float32Array.of(1, 2, 9, 3, 4, 9)), place(memory, Float32Array.of(5, 6, 9, 7, 8, 9))];
    const c = place(memory, new Float32Array(8).fill(-1));
    gemm(false, false, 2, 2, 2, a, 3, b, 3, 0, c, 4);
    expect([...memory.floats(c, 8)]).toEqual([19, 22, -1, -1, 43, 50, -1, -1]);
    for (const address of [a, b, c]) memory.free(address);
  });

  it('propagates NaN and infinities', () => {
    const shape = { transposeA: false, transposeB: false, m: 2, n: 1, k: 2, beta: 0 as const };
    const operands = [Float32Array.of(NaN, 1, Infinity, 1), Float32Array.of(1, 1), new Float32Array(2)];
    expect([...compute(deterministic, shape, operands)]).toEqual([NaN, Infinity]);
    expect([...compute(relaxed, shape, operands)]).toEqual([NaN, Infinity]);
  });
});
