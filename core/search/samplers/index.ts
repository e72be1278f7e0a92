import { z } from 'zod';
import type { Assignment } from '../space/space.ts';
import { suggestGp } from './gp/gp.ts';
import { suggestGrid } from './grid.ts';
import { suggestQuasiRandom } from './quasi-random.ts';
import type { Question } from './question.ts';
import { suggestRandom } from './random.ts';
import { suggestTpe } from './tpe/tpe.ts';

/** How a study chooses its next configuration. */
export const samplerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('grid'),
    points: z.int().min(1).default(5).meta({ help: 'Values of each continuous parameter.' }),
  }),
  z.strictObject({ kind: z.literal('random') }),
  z.strictObject({ kind: z.literal('quasi-random') }),
  z.strictObject({
    kind: z.literal('tpe'),
    startupTrials: z.int().min(1).default(10).meta({ help: 'Trials that are drawn at random first.' }),
    candidates: z
      .int()
      .min(1)
      .default(24)
      .meta({ help: 'Draws from the good density, of which the best is suggested.' }),
    multivariate: z
      .boolean()
      .nullable()
      .default(null)
      .meta({ help: 'Draw parameters together. By default with one objective, as in Optuna.' }),
    constantLiar: z
      .boolean()
      .default(true)
      .meta({ help: 'Count running trials as bad ones, so that parallel trials differ.' }),
  }),
  z.strictObject({
    kind: z.literal('gp'),
    startupTrials: z.int().min(2).default(10).meta({ help: 'Trials that are drawn at random first.' }),
  }),
]);
export type Sampler = z.infer<typeof samplerSchema>;

/** The next configuration, or null when a grid has no more. */
export function suggest(sampler: Sampler, question: Question): Assignment | null {
  switch (sampler.kind) {
    case 'grid':
      return suggestGrid(question.space, sampler.points, question.number);
    case 'random':
      return suggestRandom(question);
    case 'quasi-random':
      return suggestQuasiRandom(question);
    case 'tpe':
      return suggestTpe(sampler, question);
    case 'gp':
      return suggestGp(sampler, question);
  }
}
