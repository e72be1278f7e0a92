import { expect, it } from 'vitest';
import { CrashCount } from '../../../src-main/desktop/windows/page-messages.ts';

it('allows three crashes within a minute', () => {
  const crashes = new CrashCount();
  const seconds = [0, 20, 40, 59, 60.1, 79.9, 100];
  // At 59 s it is the fourth within a minute. At 60.1 s the first is forgotten, but three others and that one are not;
  // at 79.9 s still four, at 100 s those from 40.1 s on.
  expect(seconds.map((time) => crashes.isTooOften(time * 1000))).toEqual([false, false, false, true, true, true, true]);
  expect(crashes.isTooOften(200_000)).toBe(false);
});
