import { z } from 'zod';
import type { RunConfig } from './config.ts';

/** How many members a worker of a run trains, where `membersPerDevice` is `auto`: what was measured, and the choice. */

/** The time of a step of all members of one device, in ms, with so many members in each worker. */
const measuredSchema = z.strictObject({ members: z.int().min(1), stepMs: z.number().positive() });

export const workersSchema = z.strictObject({
  /** Members that each worker trains as one computation; 1: each member has a worker of its own. */
  members: z.int().min(1),
  /** One or two sentences. */
  why: z.string(),
  /** Absent where nothing was measured. */
  measured: z.array(measuredSchema).optional(),
});
/** The choice, with its reason. */
export type Workers = z.output<typeof workersSchema>;

/** What a short process answers that times steps (`workersTaskSchema`). */
export const workersReplySchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('measured'), measured: z.array(measuredSchema) }),
  /** Members of this model are better not computed as one. `why` follows "because". */
  z.strictObject({ type: z.literal('apart'), why: z.string() }),
  z.strictObject({ type: z.literal('failed'), message: z.string() }),
]);
export type WorkersReply = z.output<typeof workersReplySchema>;

/** The members of a worker that the configuration asks for; `auto` asks for no more than one. */
export function askedPerWorker({ membersPerDevice }: Pick<RunConfig, 'membersPerDevice'>): number {
  return membersPerDevice === 'auto' ? 1 : membersPerDevice;
}

/** What a run that goes on keeps of the choice: its members stay where they are, unless it is told otherwise. */
export function keptWorkers(
  { workers }: { workers?: Workers | undefined },
  { membersPerDevice }: Pick<RunConfig, 'membersPerDevice'>,
): { workers?: Workers } {
  return workers === undefined || membersPerDevice !== 'auto' ? {} : { workers };
}
