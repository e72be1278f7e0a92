import { z } from 'zod';
import { calibrationMethods, outsideScoreNames } from './schema.ts';

export const conformalMethods = ['auto', 'none', 'thr', 'aps', 'raps', 'split', 'sigma-scaled', 'cqr'] as const;

/** What to fit. `auto` takes what suits the task. */
export const postprocessingRequestSchema = z.strictObject({
  method: z.enum(calibrationMethods),
  /**
   * Share of the samples that fits the calibration; the others fit sets, intervals and the threshold for a risk, whose
   * guarantees hold only then. 1: all samples fit everything.
   */
  calibrationShare: z.number().gt(0).max(1),
  /** λ of `dirichlet`. */
  regularization: z.number().min(0),
  conformal: z.enum(conformalMethods),
  /** Wished share of samples whose set or interval lacks the target. */
  alpha: z.number().gt(0).lt(1),
  isClassConditional: z.boolean(),
  /** RAPS: what each rank beyond `freeRanks` adds. */
  penalty: z.number().min(0),
  freeRanks: z.int().min(0),
  outside: z.enum(['auto', 'none', ...outsideScoreNames]),
  /** Share of the fitted samples that counts as inside the training data. */
  quantile: z.number().gt(0).lt(1),
  /** Wished risk of answers; null: no threshold. */
  risk: z.number().min(0).nullable(),
});
/** What to fit. */
export type PostprocessingRequest = z.output<typeof postprocessingRequestSchema>;

/** The methods that suit a task, half of the samples for the calibration, α = 0.1, and 95 % of the samples inside. */
export const usualRequest: PostprocessingRequest = {
  method: 'auto',
  calibrationShare: 0.5,
  regularization: 0.01,
  conformal: 'auto',
  alpha: 0.1,
  isClassConditional: false,
  penalty: 0.01,
  freeRanks: 1,
  outside: 'auto',
  quantile: 0.95,
  risk: null,
};
