import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameOf, recordedCases, recordedFiles, type RecordedCase } from '../../reference/recorded.ts';
import { compareWithReference, type OpErrors } from './op-matrix/compare.ts';
import { opMatrix } from './op-matrix/index.ts';
import { Draw, type OpCase, type OpSample } from './op-matrix/op-case.ts';
import { compareWithRecorded } from './op-matrix/recorded-samples.ts';
import { canStack, compareStacked } from './op-matrix/stacked.ts';

/** The number of draws of all ops together, and their seed. A nightly run requests 20 000. */
const drawCount = Number(process.env.TUTTI_REFERENCE_DRAWS ?? 400);
const seed = Number(process.env.TUTTI_REFERENCE_SEED ?? 20_26);
const millisecondsPerDraw = 100;

const cases = [...opMatrix.values()].flat();
const totalWeight = cases.reduce((sum, { weight }) => sum + weight, 0);

export interface Bounds {
  /** This backend's share of all draws, less for a slow one. */
  readonly share?: number;
  /** The share of recorded cases, likewise. */
  readonly recorded?: number;
  /** Errors of value and gradient due to float32 arithmetic alone. */
  readonly bound?: number;
  /** Errors of single ops whose functions are less precise on the backend. */
  readonly bounds?: Readonly<Record<string, number>>;
  /** The error that the backend must throw if it cannot compute a sample, or null. */
  readonly refusal?: (sample: OpSample) => RegExp | null;
}

/**
 * Compares a backend with PyTorch's recorded values, and draws of every op, alone and in a stack of members, with the
 * reference.
 */
export function describeOpMatrix(backend: string, bounds: Bounds = {}): void {
  describe.each([...opMatrix])(`${backend} against the float64 reference: %s`, (_, ofHeading) => {
    for (const testCase of ofHeading) {
      const runs = Math.ceil((drawCount * (bounds.share ?? 1) * testCase.weight) / totalWeight);
      const timeoutMs = 60_000 + runs * millisecondsPerDraw;
      it(`${testCase.op}, ${runs} draws`, () => expectOpWithin(testCase, runs, bounds), timeoutMs);
    }
  });
  describe.each(recordedFiles)(`${backend} against PyTorch's values: %s`, (file) => {
    const recorded = recordedCases(file).filter((_, i) => i % Math.round(1 / (bounds.recorded ?? 1)) === 0);
    it.each(recorded.map((testCase) => [nameOf(testCase), testCase] as const))('%s', (_, testCase) =>
      expectRecordedWithin(testCase, bounds),
    );
  });
}

async function expectRecordedWithin(testCase: RecordedCase, bounds: Bounds): Promise<void> {
  const bound = bounds.bound ?? 2e-5;
  const errors = await compareWithRecorded(testCase);
  expect(errors.value, 'value').toBeLessThan(bound);
  expect(errors.gradient ?? 0, 'gradient').toBeLessThan(bound);
}

/**
 * The mean of equal values may be off by one rounding. 1/√ε = 10 and the sum over all samples amplify it in the scale's
 * gradient, which is 0.
 */
const widerBounds: Readonly<Record<string, number>> = { 'layers.batchNormalization': 2e-4 };

async function expectOpWithin(testCase: OpCase, runs: number, bounds: Bounds): Promise<void> {
  const bound = { ...widerBounds, ...bounds.bounds }[testCase.op] ?? bounds.bound ?? 2e-5;
  const property = fc.asyncProperty(fc.gen(), async (draw) => {
    const sample = testCase.draw(new Draw((smallest, largest) => draw(fc.integer, { min: smallest, max: largest })));
    const refusal = bounds.refusal?.(sample) ?? null;
    if (refusal !== null) return expectRefused(sample, refusal);
    await expectWithin(bound, sample, 'alone', () => compareWithReference(sample));
    if (canStack(sample)) await expectWithin(bound, sample, 'stacked', () => compareStacked(sample));
  });
  await fc.assert(property, { seed, numRuns: runs });
}

async function expectRefused(sample: OpSample, message: RegExp): Promise<void> {
  await expect(compareWithReference(sample)).rejects.toThrow(message);
}

async function expectWithin(
  bound: number,
  sample: OpSample,
  form: string,
  compare: () => Promise<OpErrors>,
): Promise<void> {
  const shapes = sample.inputs.map(({ shape }) => `[${shape.join(', ')}]`).join(' ');
  const message = `${form}, options ${JSON.stringify(sample.options ?? {})}, inputs ${shapes}`;
  const errors = await compare().catch((error: unknown) => {
    throw new Error(`Fails ${message}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
  expect(errors.value, `value ${message}`).toBeLessThan(bound);
  expect(errors.gradient ?? 0, `gradient ${message}`).toBeLessThan(bound);
}
