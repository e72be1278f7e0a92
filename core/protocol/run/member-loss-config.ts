import { z } from 'zod';

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
