import { expect, it } from 'vitest';
import type { SystemBlas } from '../../../../workers/backends/blas/system-blas.ts';
import { createBlasProducts } from '../../../../workers/backends/wasm/gemm.ts';
import type { TensorMemory } from '../../../../workers/backends/wasm/memory/tensor-memory.ts';

it('a BLAS gets current addresses, even after the memory has grown and moved', () => {
  const [first, grown] = [new ArrayBuffer(8), new ArrayBuffer(16)];
  const wasmMemory = { buffer: first };
  const addresses: number[][] = [];
  const blas: Pick<SystemBlas, 'addressOf' | 'sgemm'> = {
    addressOf: (buffer) => (buffer === grown ? 5000 : 1000),
    sgemm: (_transposeA, _transposeB, _m, _n, _k, a, _lda, b, _ldb, _beta, c) => void addresses.push([a, b, c]),
  };
  const refuse = (): never => {
    throw new Error('A product of this size is the BLAS’s.');
  };
  const memory = { wasmMemory } as unknown as TensorMemory;
  const { gemm } = createBlasProducts(blas as SystemBlas, memory, { gemm: refuse, prepare: refuse });
  const multiply = (): void => gemm(false, false, 512, 512, 512, 1, 512, 2, 512, 0, 3, 512);
  multiply();
  wasmMemory.buffer = grown;
  multiply();
  multiply();
  expect(addresses).toEqual([
    [1001, 1002, 1003],
    [5001, 5002, 5003],
    [5001, 5002, 5003],
  ]);
});
