import fc from 'fast-check';
import type { StackedProbabilities, StackedValues } from '../../../core/metrics/index.ts';

export interface ClassificationCase {
  stack: StackedProbabilities;
  targets: Int32Array;
}

/** Up to 4 members, 6 samples and 5 classes. Rows sum to 1, and some assign everything to one class. */
export const classificationCase: fc.Arbitrary<ClassificationCase> = fc
  .record({
    members: fc.integer({ min: 1, max: 4 }),
    samples: fc.integer({ min: 1, max: 6 }),
    classes: fc.integer({ min: 2, max: 5 }),
  })
  .chain(({ members, samples, classes }) =>
    fc.record({
      stack: fc
        .array(distribution(classes), { minLength: members * samples, maxLength: members * samples })
        .map((rows) => ({ members, samples, classes, values: Float32Array.from(rows.flat()) })),
      targets: fc
        .array(fc.nat({ max: classes - 1 }), { minLength: samples, maxLength: samples })
        .map((labels) => Int32Array.from(labels)),
    }),
  );

export interface RegressionCase {
  means: StackedValues;
  variances: StackedValues;
  targets: Float32Array;
}

export const regressionCase: fc.Arbitrary<RegressionCase> = fc
  .record({ members: fc.integer({ min: 1, max: 5 }), samples: fc.integer({ min: 1, max: 8 }) })
  .chain(({ members, samples }) =>
    fc.record({
      means: values(members * samples, -100, 100).map((values) => ({ members, samples, values })),
      variances: values(members * samples, Math.fround(0.001), 100).map((values) => ({ members, samples, values })),
      targets: values(samples, -100, 100),
    }),
  );

/** The same stack with its members in reverse order. */
export function reversed<T extends StackedProbabilities | StackedValues>(stack: T): T {
  const length = stack.values.length / stack.members;
  const rows = Array.from({ length: stack.members }, (_, m) => stack.values.subarray(m * length, (m + 1) * length));
  return { ...stack, values: Float32Array.from(rows.toReversed().flatMap((row) => [...row])) };
}

/** Copies of the first member, as many as the stack has members. */
export function identical<T extends StackedProbabilities | StackedValues>(stack: T): T {
  const length = stack.values.length / stack.members;
  return { ...stack, values: stack.values.map((_, i) => stack.values[i % length]) };
}

function distribution(classes: number): fc.Arbitrary<number[]> {
  const spread = fc
    .array(fc.integer({ min: 0, max: 1000 }), { minLength: classes, maxLength: classes })
    .filter((parts) => parts.some((part) => part > 0))
    .map((parts) => parts.map((part) => part / parts.reduce((sum, other) => sum + other)));
  const certain = fc.nat({ max: classes - 1 }).map((k) => Array.from({ length: classes }, (_, i) => (i === k ? 1 : 0)));
  return fc.oneof({ arbitrary: spread, weight: 4 }, { arbitrary: certain, weight: 1 });
}

function values(length: number, min: number, max: number): fc.Arbitrary<Float32Array> {
  return fc.float32Array({ minLength: length, maxLength: length, min, max, noNaN: true });
}
