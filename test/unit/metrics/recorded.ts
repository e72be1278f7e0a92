import { readGolden } from '../../golden/read-golden.ts';

/** `metrics/metrics.json`, written by make_metrics.py. NaN and infinities are strings. */
export interface Recorded {
  versions: Record<string, string>;
  classification: {
    name: string;
    form: 'logits' | 'probabilities';
    shape: [members: number, samples: number, classes: number];
    values: (number | string)[];
    targets: number[];
    ensemble: RecordedScores;
    product: RecordedScores | null;
    members: RecordedScores[];
    predictive_entropy: number | string;
    mutual_information: number | string;
    not_unanimous: number | string;
  }[];
  binary: {
    name: string;
    shape: [members: number, samples: number];
    values: number[];
    targets: number[];
    ensemble_nll: number;
    member_nll: number[];
    member_acc: number[];
  }[];
  regression: {
    name: string;
    shape: [members: number, samples: number];
    means: number[];
    variances: number[];
    targets: number[];
    ens_mse: number;
    ens_nll: number;
    ens_std: number;
    aleatoric_variance: number;
    epistemic_variance: number;
    member_mse: number[];
    member_nll: number[];
  }[];
}

export interface RecordedScores {
  nll: number | string;
  acc: number | string;
  brier: number | string;
  ece: number | string;
  /** Absent if confidences lie on the edges of bins, which it assigns to the bin above. */
  ece_torchmetrics?: number;
  /** Accuracy and confidence of non-empty bins. */
  bins?: [number, number][];
}

export const readRecorded = (): Recorded => readGolden('metrics/metrics.json') as Recorded;

export function recordedNumber(value: number | string): number {
  return Number(value);
}

/** Distance of two values relative to the expected one, but at least to 1e-3. 0 for two NaN or the same infinity. */
export function agreement(found: number, expected: number): number {
  if (Object.is(found, expected)) return 0;
  if (!Number.isFinite(found) || !Number.isFinite(expected)) return Infinity;
  return Math.abs(found - expected) / Math.max(Math.abs(expected), 1e-3);
}
