import { beforeAll, describe } from 'vitest';
import { startSubject, subjects } from './compare.ts';
import { testNaN } from './test-nan.ts';

describe.each(subjects)('on %s, NaN stays NaN', (subject) => {
  beforeAll(() => startSubject(subject));

  testNaN();
});
