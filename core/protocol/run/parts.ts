import { z } from 'zod';

/** How an ensemble is made from checkpoints that exist already. */
export const partMethods = [
  'greedy',
  'top-k',
  'smallest',
  'soup',
  'greedy-soup',
  'snapshots',
  'swag',
  'mc-dropout',
  'unroll',
] as const;
export type PartMethod = (typeof partMethods)[number];

/**
 * By what members are chosen: the NLL of their mixture in nats, or the pinball loss of their mean quantiles in the unit
 * of the targets.
 */
export const partCriteria = ['nll', 'pinball'] as const;
export type PartCriterion = (typeof partCriteria)[number];

/** A checkpoint of a run that became a member, or a part of one. */
export const partSourceSchema = z.strictObject({
  /** Id, name and folder of the run when the ensemble was made. */
  run: z.string(),
  name: z.string(),
  folder: z.string(),
  rank: z.int().min(0),
  checkpoint: z.string(),
  epoch: z.int(),
  step: z.int(),
});
export type PartSource = z.output<typeof partSourceSchema>;

/** Where the members of an ensemble from parts come from. */
export const partsSchema = z
  .strictObject({
    method: z.enum(partMethods),
    sources: z.array(partSourceSchema).min(1),
    /**
     * For each rank the position of its checkpoint in `sources`; several if its weights are their mean, or were drawn
     * around it.
     */
    members: z.array(z.array(z.int().min(0)).min(1)).min(1),
  })
  .refine(({ sources, members }) => members.flat().every((position) => position < sources.length), {
    error: 'a member names a source that is not there',
  });
export type Parts = z.output<typeof partsSchema>;

/** Checkpoints of one rank of a run, in order of time. */
export interface PartOrigin {
  first: PartSource;
  last: PartSource;
  count: number;
}

/** More checkpoints of one rank than this are shown as one line. */
const mostLines = 3;

/**
 * Where each rank comes from, for pages and messages: a line for each checkpoint, and one for many of the same rank.
 */
export function originsOf({ sources, members }: Parts): PartOrigin[][] {
  return members.map((positions) => {
    const groups: PartSource[][] = [];
    for (const source of positions.map((position) => sources[position])) {
      const last = groups.at(-1);
      if (last !== undefined && last[0].run === source.run && last[0].rank === source.rank) last.push(source);
      else groups.push([source]);
    }
    const lines = groups.flatMap((group) => (group.length > mostLines ? [group] : group.map((source) => [source])));
    return lines.map((group) => ({ first: group[0], last: group[group.length - 1], count: group.length }));
  });
}

/** Names the checkpoints of a line. */
export function nameOrigin({ first, last, count }: PartOrigin): string {
  return count === 1 ? first.checkpoint : `${first.checkpoint} to ${last.checkpoint} (${count})`;
}
