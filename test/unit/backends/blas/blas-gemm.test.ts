import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { findBlasLibraries, thisSystem } from '../../../../src-main/backends/blas-libraries.ts';
import { commandRunner } from '../../../../src-main/processes/command.ts';
import type { Product } from '../../../../workers/backends/blas/products.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { notRun } from '../../../environment/reasons.ts';
import { blasFolder } from '../../../environment/test-home.ts';

const [library] = await findBlasLibraries(thisSystem(commandRunner(5000), blasFolder));
const noBlas = library === undefined ? 'no BLAS is set up: npm run test:setup' : null;

describe.skipIf(noBlas !== null)(`wasm with a BLAS${notRun(noBlas)}`, () => {
  let description = '';
  beforeAll(async () => {
    await startBackend('cpu');
    ({ description } = await startBackend('wasm', { blas: { ...library, coreType: null } }));
  });

  const product: fc.Arbitrary<Product> = fc.record({
    m: fc.integer({ min: 1, max: 40 }),
    k: fc.integer({ min: 1, max: 40 }),
    n: fc.integer({ min: 1, max: 40 }),
    transposeA: fc.boolean(),
    transposeB: fc.boolean(),
  });

  /** The product of two matrices of small whole numbers, which is exact in every order of summation. */
  async function multiply(backend: 'wasm' | 'cpu', { m, k, n, transposeA, transposeB }: Product) {
    await tf.setBackend(backend);
    return tf.tidy(() => {
      const a = tf
        .range(0, m * k)
        .mod(7)
        .reshape(transposeA ? [k, m] : [m, k]);
      const b = tf
        .range(0, k * n)
        .mod(5)
        .reshape(transposeB ? [n, k] : [k, n]);
      return [...tf.matMul(a, b, transposeA, transposeB).dataSync()];
    });
  }

  it('multiplies like the cpu backend, on both sides of the size limit for the built-in kernels', () =>
    fc.assert(
      fc.asyncProperty(product, async (shape) => {
        expect(await multiply('wasm', shape)).toEqual(await multiply('cpu', shape));
      }),
      { seed: 1, numRuns: 100 },
    ));

  it('finds its operands after the memory has grown', async () => {
    await tf.setBackend('wasm');
    const a = tf.ones([64, 64]);
    const before = (tf.backend() as unknown as { wasm: { HEAPU8: Uint8Array } }).wasm.HEAPU8.byteLength;
    const large = tf.ones([before / 4]);
    const product = tf.matMul(a, a);
    expect(new Set(product.dataSync())).toEqual(new Set([64]));
    tf.dispose([a, large, product]);
  });

  it('names its BLAS', () => expect(description).toMatch(/^wasm \+ (OpenBLAS|BLIS|MKL|Accelerate)/));
});
