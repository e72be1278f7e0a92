import type fc from 'fast-check';

/** A deterministic spread of values in [-1, 1), exact in float32. */
export function spread(length: number, seed: number): Float32Array<ArrayBuffer> {
  let state = seed >>> 0;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 2 ** 23 - 1;
  });
}

/** The options of a property run: the same shapes each time. */
export const propertyOptions: fc.Parameters<unknown> = { seed: 20_26, numRuns: 60 };
