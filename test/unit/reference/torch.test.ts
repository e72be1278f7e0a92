import { describe, expect, it } from 'vitest';
import {
  computeReference,
  inputOf,
  nameOf,
  outputGradientOf,
  recordedCases,
  recordedFiles,
} from '../../reference/recorded.ts';
import { gradientsOf, Value } from '../../reference/value.ts';

/** Recorded with 12 digits. */
const tolerance = 1e-11;

function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(found).toHaveLength(expected.length);
  const difference = Math.max(
    ...Array.from(expected, (value, i) => Math.abs(found[i] - value) / Math.max(1, Math.abs(value))),
  );
  expect(difference).toBeLessThan(tolerance);
}

describe.each(recordedFiles)("the naive reference equals PyTorch's values and gradients in float64: %s", (file) => {
  it.each(recordedCases(file).map((testCase) => [nameOf(testCase), testCase] as const))('%s', (_, testCase) => {
    const inputs = testCase.shapes.map((shape, k) => new Value(inputOf(testCase, k), shape));
    const y = computeReference(testCase, inputs);
    expect(y.shape).toEqual(testCase.shape);
    expectClose(y.data, testCase.value);
    gradientsOf(y, outputGradientOf(testCase), inputs).forEach((gradient, k) => {
      const expected = testCase.gradients[k];
      if (expected !== null) expectClose(gradient, expected);
    });
  });
});
