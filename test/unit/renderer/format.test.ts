import { expect, it } from 'vitest';
import { formatTime } from '../../../src-renderer/components/basic/format.ts';

it('omits the current year', () => {
  const now = new Date('2026-11-21T12:00:00');
  expect(formatTime('2026-03-01T12:00:00', now)).not.toContain('2026');
  expect(formatTime('2025-03-01T12:00:00', now)).toContain('2025');
});
