import { expect, it } from 'vitest';
import { kernelsAlone, place } from './wasm-memory.ts';

it.each(['deterministic', 'relaxed'] as const)(
  'cross-entropy of the %s build writes only its loss, and nothing at the start of the memory',
  async (build) => {
    const { kernels, memory } = await kernelsAlone(build);
    // A quarter of the weight each: ln 4 for either label.
    const logits = place(memory, Float32Array.of(0, 0, 0, 0, 7, 7, 7, 7));
    const labels = place(memory, new Float32Array(Int32Array.of(1, 3).buffer));
    const loss = place(memory, Float32Array.of(-1, -2));
    const before = memory.floats(0, 64).slice();
    kernels.crossEntropy(logits, labels, 2, 4, loss);
    expect(memory.floats(0, 64)).toEqual(before);
    const [value, next] = memory.floats(loss, 2);
    expect(value).toBeCloseTo(Math.log(4), 6);
    expect(next).toBe(-2);
    for (const address of [logits, labels, loss]) memory.free(address);
  },
);
