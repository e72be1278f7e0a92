import { describe, expect, it } from 'vitest';
import { compareBinary, compareClassification, compareRegression, type Comparison } from './compare-recorded.ts';
import { agreement, readRecorded } from './recorded.ts';

const recorded = readRecorded();
const others = Object.entries(recorded.versions)
  .map(([name, version]) => `${name} ${version}`)
  .join(', ');

/** Relative to values of at least 1e-3. */
const tolerance = 1e-9;
/** torchmetrics sums in float32. */
const singleTolerance = 1e-4;

function expectAgreement(comparisons: readonly Comparison[]): void {
  expect(comparisons.length).toBeGreaterThan(0);
  for (const { quantity, subject, found, expected } of comparisons) {
    const allowed = quantity === 'ece of torchmetrics' ? singleTolerance : tolerance;
    expect(agreement(found, expected), `${quantity} of ${subject}: ${found} for ${expected}`).toBeLessThan(allowed);
  }
}

describe(`metrics against ${others}`, () => {
  it.each(recorded.classification)('classification: $name', (given) => expectAgreement(compareClassification(given)));
  it.each(recorded.binary)('binary: $name', (given) => expectAgreement(compareBinary(given)));
  it.each(recorded.regression)('regression: $name', (given) => expectAgreement(compareRegression(given)));

  it.each(recorded.binary)('binary, $name: small likelihoods have a small relative error', (given) => {
    const likelihoods = compareBinary(given).filter(({ quantity }) => quantity === 'nll');
    for (const { found, expected } of likelihoods) expect(found / expected).toBeCloseTo(1, 6);
  });
});
