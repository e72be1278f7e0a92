import { z } from 'zod';
import type { Assignment, Space } from '../space/space.ts';
import type { Trial } from '../trial.ts';
import { suggestGp } from './gp/gp.ts';
import { gridSize } from './grid.ts';
import { suggestQuasiRandom, suggestRandom } from './quasi-random.ts';
import type { Question } from './question.ts';
import { suggestTpe } from './tpe.ts';
import { nextOfGrid, spaceSize, triedBefore, TriedConfigurations } from './untried.ts';

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

/** How many configurations a sampler can suggest; null where there is no end of them. */
export function configurationsOf(sampler: Sampler, space: Space): number | null {
  return sampler.kind === 'grid' ? gridSize(space, sampler.points) : spaceSize(space);
}

/** Whether trials have had all that a sampler can suggest. */
export function isSpent(sampler: Sampler, space: Space, trials: readonly Pick<Trial, 'values'>[]): boolean {
  if (trials.length < (configurationsOf(sampler, space) ?? Infinity)) return false;
  const tried = new TriedConfigurations(space, trials);
  if (sampler.kind !== 'grid') return tried.count >= (spaceSize(space) ?? Infinity);
  return nextOfGrid(space, sampler.points, tried) === null;
}

/** The next configuration, which no trial has had, or null when they have had all. */
export function suggest(sampler: Sampler, question: Question): Assignment | null {
  const { space, trials, number } = question;
  const others = trials.filter((trial) => trial.number !== number);
  if (isSpent(sampler, space, others)) return null;
  switch (sampler.kind) {
    case 'grid':
      return nextOfGrid(space, sampler.points, triedBefore(question));
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
