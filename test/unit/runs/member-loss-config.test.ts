import { expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';

it('a lost member restarts by default', () => {
  expect(runConfigSchema.parse({}).onMemberLoss).toEqual({
    kind: 'restart',
    maxRestarts: 3,
    backoffSeconds: 1,
    worldSize: 'fixed',
  });
});
