/** A product C = A·B: A is `[m, k]` and B `[k, n]`, or the other way round where they are to be transposed. */
export interface Product {
  m: number;
  k: number;
  n: number;
  transposeA: boolean;
  transposeB: boolean;
}

/** Forward X·W, weights' gradient Xᵀ·dY and inputs' gradient dY·Wᵀ of a dense layer: `2 · batch · inputs · units` operations each. */
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
 * GFLOP/s over all products, each at the fastest of a few tries after one that warms up: what else runs only ever slows them down.
 * @param prepare makes a product's operands and returns what multiplies them; a promise is waited for
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
