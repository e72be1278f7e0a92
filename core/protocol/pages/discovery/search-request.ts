import { z } from 'zod';
import { searchSchema } from '../../../discovery/search.ts';

/** A request to begin a search. */
export const searchRequestSchema = searchSchema
  .pick({
    goal: true,
    oracle: true,
    acquisition: true,
    beside: true,
    start: true,
    isStartStratified: true,
    perRound: true,
    rounds: true,
    hasClassWeights: true,
    isWarm: true,
    seed: true,
  })
  .extend({
    projectFolder: z.string().min(1),
    /** Null: the project's. */
    name: z.string().min(1).nullable(),
    /** Changes to the project's defaults in all rounds, nested as in the configuration. */
    overrides: z.record(z.string(), z.unknown()),
  });
export type SearchRequest = z.output<typeof searchRequestSchema>;

/** Labels that a person gives: one by one, in words or numbers, or as the text of a CSV file with the columns `index` and `label`. */
export const answersSchema = z.union([
  z.strictObject({ labels: z.array(z.strictObject({ index: z.int().min(0), label: z.string() })).max(100_000) }),
  z.strictObject({ file: z.string(), csv: z.string().max(10_000_000) }),
]);
export type Answers = z.output<typeof answersSchema>;
