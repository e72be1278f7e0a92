import { beforeAll, describe, expect, it } from 'vitest';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { startSubject, subjects } from './compare.ts';
import { testWindows } from './test-windows.ts';

describe.each(subjects)('on %s, values and gradients equal those of loops in float64', (subject) => {
  beforeAll(() => startSubject(subject));

  testWindows({ numRuns: 150 });
});

describe.each(subjects)('on %s, a window over padding alone', (subject) => {
  beforeAll(() => startSubject(subject));

  it.each(['maxPool', 'avgPool'] as const)('is refused by %s, which has no value for it', (kind) => {
    const x = tf.ones([1, 3, 3, 1]);
    const around = [
      [0, 0],
      [2, 0],
      [0, 0],
      [0, 0],
    ] as never;
    expect(() => tf[kind](x as never, 2, 1, around)).toThrow(
      /among 3 rows, a window of 2 with strides of 1 and padding of 2 covers nothing but padding\. Pad by less/,
    );
    expect(() => tf[kind](x as never, 1, 3, 0, 'ceil')).toThrow(/among 3 rows, a window of 1 with strides of 3/);
  });
});
