import { z } from 'zod';

/**
 * Members of one run have seeds that follow each other, and a run has at most so many; no member of another base seed
 * has one of them.
 */
const seedStride = 256;

/**
 * The base seed of a repetition: seed + 256 · index (mod 2³²). Member r of it has the base seed plus r, so that all
 * members of all repetitions have different seeds.
 * @param index from 0
 */
export function repeatedSeed(seed: number, index: number): number {
  return (seed + seedStride * index) % 2 ** 32;
}

/** Most repetitions of one sweep. */
export const mostRepetitions = 1000;

/**
 * The place of a run in a sweep: several runs of one configuration that differ only in their seeds
 * (`tutti train --repeat`).
 */
export const sweepSchema = z.strictObject({
  /** Begins the ids of its runs. */
  id: z.string().regex(/^\w[\w-]{0,179}$/, 'it must be letters, digits, "_" and "-", at most 180'),
  /** The name of the sweep; its runs add their places to it. */
  name: z.string(),
  /** The place of the run in the sweep, counted from 0. */
  index: z
    .int()
    .min(0)
    .max(mostRepetitions - 1),
  /** Number of runs that the sweep is to have. */
  of: z.int().min(1).max(mostRepetitions),
  /** Base seed of the run with index 0; {@link repeatedSeed} gives the others. */
  seed: z.int().min(0),
});
export type SweepPlace = z.output<typeof sweepSchema>;

/** The sweep itself, without the place of one of its runs. */
export type Sweep = Omit<SweepPlace, 'index'>;

/** The id of one of its runs. Two processes that continue a sweep thus never train the same run. */
export function sweepRunId({ id }: Pick<Sweep, 'id'>, index: number): string {
  return `${id}-seed-${index}`;
}
