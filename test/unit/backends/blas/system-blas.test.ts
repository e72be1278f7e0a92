import { beforeAll, describe, expect, it } from 'vitest';
import { findBlasLibraries, thisSystem } from '../../../../src-main/backends/blas-libraries.ts';
import { commandRunner } from '../../../../src-main/processes/command.ts';
import { loadBlas } from '../../../../workers/backends/blas/system-blas.ts';
import { notRun } from '../../../environment/reasons.ts';
import { blasFolder } from '../../../environment/test-home.ts';

const [library] = await findBlasLibraries(thisSystem(commandRunner(5000), blasFolder));
const noBlas = library === undefined ? 'no BLAS is set up: npm run test:setup' : null;

describe.skipIf(noBlas !== null)(`a BLAS${notRun(noBlas)}`, () => {
  let blas: Awaited<ReturnType<typeof loadBlas>>;
  beforeAll(async () => {
    blas = await loadBlas({ ...library, coreType: null });
  });
  // A = [1 2 3; 4 5 6], B = [7 8; 9 10; 11 12], AB = [58 64; 139 154].
  const stored = { a: [1, 2, 3, 4, 5, 6], at: [1, 4, 2, 5, 3, 6], b: [7, 8, 9, 10, 11, 12], bt: [7, 9, 11, 8, 10, 12] };

  it.each([
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ])('multiplies matrices, transposed or not (A %s, B %s)', (transposeA, transposeB) => {
    const a = Float32Array.from(transposeA ? stored.at : stored.a);
    const b = Float32Array.from(transposeB ? stored.bt : stored.b);
    const c = new Float32Array(4).fill(1000);
    const [from, by, to] = [a, b, c].map(({ buffer }) => blas.addressOf(buffer));
    blas.sgemm(transposeA, transposeB, 2, 2, 3, from, transposeA ? 2 : 3, by, transposeB ? 3 : 2, 0, to, 2);
    expect([...c]).toEqual([58, 64, 139, 154]);
    blas.sgemm(transposeA, transposeB, 2, 2, 3, from, transposeA ? 2 : 3, by, transposeB ? 3 : 2, 1, to, 2);
    expect([...c]).toEqual([116, 128, 278, 308]);
  });

  it('computes on a part of a memory, and leaves the rest unchanged', () => {
    const memory = new ArrayBuffer(16384);
    new Float32Array(memory, 4096, 4).set([1, 2, 3, 4]);
    const base = blas.addressOf(memory);
    // Rows of the result are 3 values apart.
    blas.sgemm(false, false, 2, 2, 2, base + 4096, 2, base + 4096, 2, 0, base + 8192, 3);
    expect([...new Float32Array(memory, 8192, 7)]).toEqual([7, 10, 0, 15, 22, 0, 0]);
  });

  it('reports its name', () => expect(blas.description).toMatch(/^(OpenBLAS \(\w+\)|BLIS \(\w+\)|MKL|Accelerate)$/));
});

it('reports that the library cannot be loaded', async () => {
  const missing = { kind: 'OpenBLAS', library: '/nowhere/libopenblas.so.0', coreType: null } as const;
  await expect(loadBlas(missing)).rejects.toThrow('/nowhere/libopenblas.so.0');
});
