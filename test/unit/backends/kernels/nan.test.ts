import { beforeAll, describe } from 'vitest';
import { startSubject, subjects } from '../naive/compare.ts';
import { testNaN } from '../naive/test-nan.ts';

describe.each(subjects)('on %s, NaN stays NaN', (subject) => {
  beforeAll(() => startSubject(subject));

  testNaN();
});
