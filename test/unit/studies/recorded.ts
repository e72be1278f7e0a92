import { z } from 'zod';
import { assignmentSchema, directionSchema } from '../../../core/studies/trial.ts';
import { readGolden } from '../../golden/read-golden.ts';

const rows = z.array(z.array(z.number()));

/** What Optuna computed; `make_optuna.py` beside it records it. */
export const optuna = z
  .object({
    estimators: z.array(
      z.object({
        observed: z.array(assignmentSchema),
        asked: z.array(assignmentSchema),
        logDensities: z.array(z.number()),
      }),
    ),
    fronts: z.array(
      z.object({
        losses: rows,
        ranks: z.array(z.number()),
        reference: z.array(z.number()),
        hypervolume: z.number(),
        front: rows,
        size: z.number(),
        chosen: z.array(z.number()),
      }),
    ),
    importances: z.array(
      z.object({
        direction: directionSchema,
        trials: z.array(z.object({ values: assignmentSchema, objective: z.number() })),
        target: z.number(),
        region: z.number(),
        importances: z.record(z.string(), z.number()),
      }),
    ),
    journal: z.array(
      z.object({
        state: z.string(),
        values: assignmentSchema,
        objectives: z.array(z.number()).nullable(),
        reports: z.array(z.tuple([z.number(), z.number().nullable()])),
      }),
    ),
  })
  .parse(readGolden('search/optuna.json'));

/** Regrets of Optuna's samplers, one for each of 120 seeds. */
export const regrets = z
  .object({
    cases: z.array(
      z.object({ sampler: z.string(), function: z.string(), trials: z.number(), regrets: z.array(z.number()) }),
    ),
  })
  .parse(readGolden('search/regrets.json')).cases;

/** One-sided p-values of Wilcoxon's signed-rank test, by SciPy. */
export const wilcoxon = z
  .object({ wilcoxon: z.array(z.object({ differences: z.array(z.number()), pValue: z.number() })) })
  .parse(readGolden('search/statistics.json')).wilcoxon;
