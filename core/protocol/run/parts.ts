import { z } from 'zod';

/** How an ensemble is made from checkpoints that exist already. */
export const partMethods = ['greedy', 'smallest', 'soup', 'greedy-soup', 'snapshots', 'swag', 'mc-dropout'] as const;
export type PartMethod = (typeof partMethods)[number];

/** By what members are chosen: the NLL of their mixture in nats, or the pinball loss of their mean quantiles in the unit of the targets. */
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
export const partsSchema = z.strictObject({
  method: z.enum(partMethods),
  /** For each rank its checkpoint; several if its weights are their mean, or were drawn around it. */
  members: z.array(z.array(partSourceSchema).min(1)).min(1),
});
