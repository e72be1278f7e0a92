/** A product C = A·B. A is `[m, k]` and B `[k, n]`; a matrix to transpose is stored with its axes swapped. */
export interface Product {
  m: number;
  k: number;
  n: number;
  transposeA: boolean;
  transposeB: boolean;
}

/**
 * The products of a dense layer: forward X·W, weights' gradient Xᵀ·dY, inputs' gradient dY·Wᵀ. Each takes
 * `2 · batch · inputs · units` operations.
 */
export function denseLayerProducts({ batch, inputs, units }: DenseLayer): Product[] {
  return [
    { m: batch, k: inputs, n: units, transposeA: false, transposeB: false },
    { m: inputs, k: batch, n: units, transposeA: true, transposeB: false },
    { m: batch, k: units, n: inputs, transposeA: false, transposeB: true },
  ];
}

interface DenseLayer {
  batch: number;
  inputs: number;
  units: number;
}

const repeats = 4;

/**
 * GFLOP/s over all products. Each counts with its fastest try after a warm-up, since other load can only slow it down.
 * @param prepare makes a product's operands and returns the function that multiplies them; a returned promise is
 * awaited
 */
export async function measureProducts(
  products: readonly Product[],
  prepare: (product: Product) => () => unknown,
): Promise<number> {
  let operations = 0;
  let totalMs = 0;
  for (const product of products) {
    const multiply = prepare(product);
    await multiply();
    operations += 2 * product.m * product.k * product.n;
    totalMs += await fastestMs(multiply);
  }
  return operations / totalMs / 1e6;
}

async function fastestMs(action: () => unknown): Promise<number> {
  let fastest = Infinity;
  for (let i = 0; i < repeats; i++) {
    const startMs = performance.now();
    await action();
    fastest = Math.min(fastest, performance.now() - startMs);
  }
  return fastest;
}
