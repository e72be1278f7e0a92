import type { Estimate } from '../../../../../core/numeric/estimate.ts';
import { pairedDifferences } from '../../../../../core/protocol/run/sweep/paired-differences.ts';
import type { ComparedSubject } from '../compared-subject.ts';
import { type Verdict, verdictOf } from './results-order.ts';
import { modeIn, setMetrics } from './results.ts';

/** How a metric of a sweep differs from that of the reference, seed by seed. */
export interface PairedRow {
  set: string;
  split: string;
  metric: string;
  difference: Estimate;
  /** The mean difference in units of its standard error; NaN if that is unknown or 0. */
  errors: number;
  verdict: Verdict | null;
}

export interface PairedSweep {
  subject: ComparedSubject;
  /** Empty where no seed has finished in both sweeps. */
  rows: PairedRow[];
}

/** The sweep with which the others are paired: the baseline if it is one, else the first; null if there is only one. */
export function pairedReference(
  subjects: readonly ComparedSubject[],
  baseline: ComparedSubject | null,
): ComparedSubject | null {
  const sweeps = subjects.filter(({ sweep }) => sweep !== null);
  if (sweeps.length < 2) return null;
  return baseline !== null && baseline.sweep !== null ? baseline : sweeps[0];
}

/** The differences of all other sweeps from the reference, in the metrics that tables show. */
export function pairedSweeps(subjects: readonly ComparedSubject[], reference: ComparedSubject): PairedSweep[] {
  const shown = setMetrics(subjects);
  const recordsOf = ({ runs }: ComparedSubject) => runs.map(({ record }) => record);
  return subjects
    .filter(({ id, sweep }) => sweep !== null && id !== reference.id)
    .map((subject) => ({
      subject,
      rows: pairedDifferences(recordsOf(reference), recordsOf(subject))
        .filter(({ metric }) => shown.includes(metric))
        .map((paired) => {
          const { mean, standardError } = paired.difference;
          return {
            ...paired,
            errors: standardError > 0 ? mean / standardError : NaN,
            verdict: verdictOf(mean, standardError, modeIn(subjects, paired.metric)),
          };
        }),
    }));
}
