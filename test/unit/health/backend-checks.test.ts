import { expect, it } from 'vitest';
import { type Check, unlessNoneWorks } from '../../../src-main/health/backend-checks.ts';

const check = (name: string, status: Check['status']): Check => ({ name, status, detail: '' });
const statuses = (checks: Check[]): string[] => unlessNoneWorks(checks).map(({ status }) => status);

it('a backend that fails is a warning as long as wasm or cpu works', () => {
  const tensorflow = check('backend tensorflow', 'fail');
  expect(statuses([check('backend wasm', 'ok'), tensorflow, check('backend cpu', 'ok')])).toEqual(['ok', 'warn', 'ok']);
  expect(statuses([check('backend wasm', 'fail'), check('backend cpu', 'ok')])).toEqual(['warn', 'ok']);
  expect(statuses([check('backend wasm', 'fail'), tensorflow, check('backend cpu', 'fail')])).toEqual(
    Array(3).fill('fail'),
  );
});
