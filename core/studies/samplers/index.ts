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

/** One kind of sampler. */
interface SamplerKind<Settings> {
  label: string;
  help: string;
  /** The next configuration, which no trial has had. */
  suggest(settings: Settings, question: Question): Assignment | null;
  /** Absent: all configurations of the space. */
  ofOwn?: {
    /** How many configurations it can suggest; null where there is no end of them. */
    count(settings: Settings, space: Space): number | null;
    isSpent(settings: Settings, space: Space, tried: TriedConfigurations): boolean;
  };
}

/** All kinds, in the order in which commands and pages list them. */
export const samplers: { readonly [Kind in Sampler['kind']]: SamplerKind<Extract<Sampler, { kind: Kind }>> } = {
  tpe: {
    label: 'TPE',
    help: 'Learns from the trials so far where good values lie; for any space.',
    suggest: suggestTpe,
  },
  gp: {
    label: 'Gaussian process',
    help: 'Learns most from few trials; for at most some hundred.',
    suggest: suggestGp,
  },
  random: {
    label: 'Random',
    help: 'Draws each configuration independently.',
    suggest: (_, question) => suggestRandom(question),
  },
  'quasi-random': {
    label: 'Quasi-random',
    help: 'Covers the space more evenly than random draws.',
    suggest: (_, question) => suggestQuasiRandom(question),
  },
  grid: {
    label: 'Grid',
    help: 'Tries all combinations of evenly spaced values.',
    suggest: ({ points }, question) => nextOfGrid(question.space, points, triedBefore(question)),
    ofOwn: {
      count: ({ points }, space) => gridSize(space, points),
      isSpent: ({ points }, space, tried) => nextOfGrid(space, points, tried) === null,
    },
  },
};

function kindOf({ kind }: Sampler): SamplerKind<Sampler> {
  return samplers[kind];
}

/** How many configurations a sampler can suggest; null where there is no end of them. */
export function configurationsOf(sampler: Sampler, space: Space): number | null {
  const { ofOwn } = kindOf(sampler);
  return ofOwn === undefined ? spaceSize(space) : ofOwn.count(sampler, space);
}

/** Whether trials have had all that a sampler can suggest. */
export function isSpent(sampler: Sampler, space: Space, trials: readonly Pick<Trial, 'values'>[]): boolean {
  if (trials.length < (configurationsOf(sampler, space) ?? Infinity)) return false;
  const tried = new TriedConfigurations(space, trials);
  const { ofOwn } = kindOf(sampler);
  if (ofOwn === undefined) return tried.count >= (spaceSize(space) ?? Infinity);
  return ofOwn.isSpent(sampler, space, tried);
}

/** The next configuration, which no trial has had, or null when they have had all. */
export function suggest(sampler: Sampler, question: Question): Assignment | null {
  const { space, trials, number } = question;
  const others = trials.filter((trial) => trial.number !== number);
  return isSpent(sampler, space, others) ? null : kindOf(sampler).suggest(sampler, question);
}
