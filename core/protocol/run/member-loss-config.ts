import { z } from 'zod';
import type { PlainObject } from '../../options/index.ts';

/** What happens to a run when a process of a rank dies, hangs or fails. */
export const memberLossSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('restart').meta({
      help:
        'The ranks that train together restart from their newest common state. An error in the code, which would ' +
        'recur, fails the run.',
    }),
    maxRestarts: z.int().min(0).default(3).meta({
      help: 'Restarts in a row without progress before the run fails. A newly saved state is progress.',
      replaces: 'restarts',
    }),
    backoffSeconds: z.number().min(0).default(1).meta({
      help: 'Wait before the second restart in a row without progress. It doubles with each further one, up to 60 s.',
      unit: 's',
    }),
    worldSize: z
      .enum(['fixed', 'devices'])
      .default('fixed')
      .meta({
        help:
          'Ranks that train one model on several nodes: as many as `members` says, also where nodes are lost; or ' +
          'one for each device that is there when they start or restart, at most `members`.',
      }),
  }),
  z.strictObject({
    kind: z.literal('continue').meta({
      help:
        'The other members train on without it. Only for members that exchange nothing while they train; `tutti ' +
        'resume --rank` completes it later.',
    }),
  }),
  z.strictObject({ kind: z.literal('stop').meta({ help: 'The run fails. You can resume it.' }) }),
]);
export type MemberLossPolicy = z.output<typeof memberLossSchema>;

/** A layer of the configuration of an earlier version, in which `restarts` was the policy. */
export function withMemberLoss(config: unknown): unknown {
  if (typeof config !== 'object' || config === null || !('restarts' in config)) return config;
  const { restarts, ...others } = config as PlainObject;
  const onMemberLoss = restarts === 0 ? { kind: 'stop' } : { kind: 'restart', maxRestarts: restarts };
  return { onMemberLoss, ...others };
}
