import { expect, it } from 'vitest';
import { describeOptions, unknownOptionMessage } from '../../../core/options/index.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { attemptSchema } from '../../../core/protocol/run/record.ts';

const standard = { kind: 'restart', maxRestarts: 3, backoffSeconds: 1, worldSize: 'fixed' };

it('a lost member restarts by default', () => {
  expect(runConfigSchema.parse({}).onMemberLoss).toEqual(standard);
});

it.each(['restarts', '--restarts'])('the old option %s names its successor', (name) => {
  const message = unknownOptionMessage(name, describeOptions(runConfigSchema));
  const successor = name === 'restarts' ? 'onMemberLoss.maxRestarts' : '--on-member-loss.max-restarts';
  expect(message).toBe(
    `There is no option ${name} any more. ${successor} replaces it: Restarts in a row without ` +
      'progress before the run fails. ' +
      'A newly saved state is progress.',
  );
});

it.each([
  { restarts: 0, policy: { kind: 'stop' } },
  { restarts: 2, policy: { ...standard, maxRestarts: 2 } },
])('an attempt of an earlier version with restarts $restarts has the policy that it had', ({ restarts, policy }) => {
  const { onMemberLoss: _, ...config } = runConfigSchema.parse({});
  const attempt = attemptSchema.parse({
    attempt: 1,
    startedAt: '2026-11-21T08:15:02.114Z',
    endedAt: null,
    status: 'failed',
    overrides: { restarts },
    config: { ...config, restarts },
  });
  expect(attempt.config?.onMemberLoss).toEqual(policy);
  expect(attempt.overrides).toEqual({ onMemberLoss: { ...policy, backoffSeconds: undefined, worldSize: undefined } });
});
