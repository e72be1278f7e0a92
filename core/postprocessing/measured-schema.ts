import { z } from 'zod';
import { realNumber } from '../protocol/wire/numbers.ts';

const figures = z.record(z.string(), realNumber);

const reliabilitySchema = z.array(
  z.strictObject({
    lower: z.number(),
    upper: z.number(),
    /** The number of samples, or the sum of their weights. */
    count: z.number().min(0),
    confidence: realNumber,
    accuracy: realNumber,
  }),
);

const pointSchema = z.strictObject({ coverage: z.number(), risk: realNumber });

const detectionSchema = z.strictObject({
  /** Name of a data set, or a corruption with its strength: `gaussian-noise 3`. */
  name: z.string(),
  kind: z.enum(['data', 'corruption']),
  samples: z.int(),
  /** For each score `{ auroc, auprIn, auprOut, fpr95 }`. */
  scores: z.record(z.string(), figures),
  /** Share of its samples above the threshold. */
  flagged: realNumber,
});
/** How well scores tell a data set from the test split. */
export type Detection = z.output<typeof detectionSchema>;

/** Figures of postprocessing on a split that it was not fitted on. */
export const measuredSchema = z.strictObject({
  split: z.enum(['validation', 'test']),
  samples: z.int().positive(),
  /**
   * Figures with the names and formulas of the run's metrics: `nll`, `ece`, `brier`, `acc` of classes and labels;
   * `nll`, `coverage_90`, `coverage_95` of values with variances. Other values have `gaussian_nll` and so on, those of
   * one Gaussian with the total variance.
   */
  calibration: z
    .strictObject({
      before: figures,
      after: figures,
      reliability: z.strictObject({ before: reliabilitySchema, after: reliabilitySchema }).nullable(),
    })
    .nullable(),
  conformal: z
    .strictObject({
      coverage: z.number(),
      /** sqrt(c (1 − c) / n) of the coverage c; weighted samples count as n = (Σ w)² / Σ w². */
      standardError: z.number(),
      /** Mean number of classes, or mean width of intervals. */
      meanSize: realNumber,
      /** The coverage of each class; NaN for a class without samples. Null for intervals. */
      classCoverage: z.array(realNumber).nullable(),
    })
    .nullable(),
  outside: z.strictObject({ flagged: z.number(), others: z.array(detectionSchema) }).nullable(),
  selective: z
    .strictObject({
      aurc: realNumber,
      augrc: realNumber,
      /** The risk-coverage curve, of at most 101 points. */
      curve: z.array(pointSchema.extend({ threshold: realNumber })),
      /** The point of the samples that the threshold answers; null without a threshold. */
      chosen: pointSchema.nullable(),
    })
    .nullable(),
});
/** Figures of postprocessing on a split that it was not fitted on. */
export type Measured = z.output<typeof measuredSchema>;
