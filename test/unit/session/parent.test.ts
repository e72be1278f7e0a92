import { expect, it } from 'vitest';
import { hasParent } from '../../../workers/session/orphan-guard.ts';

const failing = (code: string) => (): never => {
  throw Object.assign(new Error(code), { code });
};

it('is there as long as this process has the same parent', () => {
  expect(hasParent(7, { platform: 'linux', ppid: 7, kill: failing('ESRCH') })).toBe(true);
  expect(hasParent(7, { platform: 'darwin', ppid: 1, kill: () => true })).toBe(false);
});

it('on Windows, where the number stays, is there as long as it can be signalled', () => {
  const orphan = { platform: 'win32', ppid: 7 } as const;
  expect(hasParent(7, { ...orphan, kill: () => true })).toBe(true);
  expect(hasParent(7, { ...orphan, kill: failing('ESRCH') })).toBe(false);
  expect(hasParent(7, { ...orphan, kill: failing('EPERM') })).toBe(true);
});
