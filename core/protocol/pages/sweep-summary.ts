import { z } from 'zod';
import { type RunRecord, type RunStatus, runStatusSchema } from '../run/record.ts';
import { repeatedSeed, type Sweep, sweepSchema } from '../run/sweep/sweep.ts';
import { bestEstimateSchema, bestOverSeeds, sweepScores, sweepScoreSchema } from '../run/sweep/sweep-scores.ts';

/** What a sweep has found: means with standard errors over its finished runs, and the runs themselves. */
export const sweepSummarySchema = z.strictObject({
  sweep: sweepSchema.omit({ index: true }),
  runs: z
    .array(
      z.strictObject({
        id: z.string(),
        index: z.int(),
        seed: z.int().describe("the run's base seed"),
        status: runStatusSchema,
        error: z.string().nullable(),
        folder: z.string(),
      }),
    )
    .describe('those that exist, in the order of their seeds'),
  missing: z.array(z.int()).describe('base seeds of runs that no process has begun'),
  best: bestEstimateSchema.nullable().describe('of the monitored metric'),
  scores: z.array(sweepScoreSchema),
});
export type SweepSummary = z.output<typeof sweepSummarySchema>;

/** @param runs the runs of the sweep that exist, with their folders */
export function summarizeSweep(
  { id, name, of, seed }: Sweep,
  runs: readonly { record: RunRecord; folder: string }[],
): SweepSummary {
  const ordered = runs
    .flatMap(({ record, folder }) => (record.sweep?.id === id ? [{ record, folder, index: record.sweep.index }] : []))
    .toSorted((left, right) => left.index - right.index);
  const records = ordered.map(({ record }) => record);
  const begun = new Set(ordered.map(({ index }) => index));
  return {
    sweep: { id, name, of, seed },
    runs: ordered.map(({ record, folder, index }) => ({
      id: record.id,
      index,
      seed: record.config.seed,
      status: record.status,
      error: record.error?.message ?? null,
      folder,
    })),
    missing: Array.from({ length: of }, (_, index) => index)
      .filter((index) => !begun.has(index))
      .map((index) => repeatedSeed(seed, index)),
    best: bestOverSeeds(records),
    scores: sweepScores(records),
  };
}

/** How a sweep stands as a whole. It is stopped while some of its runs have not finished, and none trains. */
export function sweepStatus({ of }: Pick<Sweep, 'of'>, runs: readonly Pick<RunRecord, 'status'>[]): RunStatus {
  const has = (...statuses: RunStatus[]): boolean => runs.some(({ status }) => statuses.includes(status));
  if (has('created', 'running')) return 'running';
  if (has('failed')) return 'failed';
  if (has('interrupted')) return 'interrupted';
  return runs.length < of || has('stopped') ? 'stopped' : 'finished';
}
