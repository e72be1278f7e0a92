import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';

const tanh = (values: readonly number[]): number[] =>
  tf.tidy(() => [...tf.tanh(tf.tensor1d([...values], 'float32')).dataSync()]);

/** The distance of two float32 values from 2^-126 on, in units of the last place of the larger one. */
function ulps(value: number, exact: number): number {
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(exact))) - 23);
  return Math.abs(value - exact) / unit;
}

describe.each(['relaxed', 'deterministic'] as const)('tanh of the %s kernels', (determinism) => {
  beforeAll(async () => void (await startBackend('wasm', { determinism })));

  it('is within 3 ulp', () => {
    const x = Array.from({ length: 4003 }, (_, i) => Math.fround((i - 2001) / 150 + 1e-4));
    const y = tanh(x);
    const errors = x.map((value, i) => ulps(y[i], Math.tanh(value)));
    expect(Math.max(...errors)).toBeLessThan(3);
  });

  it('is right near 0, beyond the ends, and where lanes are left over', () => {
    expect(tanh([0, -0])).toEqual([0, -0]);
    for (const tiny of [1e-3, -1e-6, 1e-30])
      expect(ulps(tanh([tiny])[0], Math.tanh(Math.fround(tiny)))).toBeLessThan(3);
    for (const length of [1, 3, 4, 5]) {
      const ends = tanh(Array.from({ length }, (_, i) => (i % 2 === 0 ? 100 : -Infinity)));
      expect(ends).toEqual(ends.map((_, i) => (i % 2 === 0 ? 1 : -1)));
    }
  });

  it('is NaN of NaN', () => {
    expect(tanh([NaN, 0.5])).toEqual([NaN, expect.closeTo(Math.tanh(0.5), 6)]);
  });
});
