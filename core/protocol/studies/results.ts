import { estimate } from '../../numeric/estimate.ts';
import { lossOf, type Trial } from '../../studies/trial.ts';
import type { Objective, Study } from './study.ts';
import type { Score } from './study-line.ts';
import type { LoggedTrial } from './study-log.ts';

/** A metric of a trial: means over its parts, with standard errors. */
export interface TrialScore extends Score {
  ensembleError: number;
  meanMemberError: number;
}

/** The scores of a trial over its parts that have ended, by metric. */
export function scoresOf(trial: Pick<LoggedTrial, 'runs'>, metrics: readonly string[]): TrialScore[] {
  const parts = trial.runs
    .toSorted(({ part: left }, { part: right }) => left.split - right.split || left.seed - right.seed)
    .map(({ scores }) => scores);
  return metrics.flatMap((metric) => {
    const own = parts.flatMap((scores) => scores.filter((score) => score.metric === metric));
    if (own.length === 0) return [];
    const ensemble = estimate(own.map((score) => score.ensemble));
    const meanMember = estimate(own.map((score) => score.meanMember));
    return [
      {
        metric,
        ensemble: ensemble.mean,
        ensembleError: ensemble.standardError,
        meanMember: meanMember.mean,
        meanMemberError: meanMember.standardError,
      },
    ];
  });
}

/** The metrics of a study's objectives, each once. */
export function metricsOf({ objectives }: Pick<Study, 'objectives'>): string[] {
  return [...new Set(objectives.map(({ metric }) => metric))];
}

/** The value of an objective among scores, and its standard error; NaN where it has no score. */
export function objectiveOf(
  { metric, kind }: Objective,
  scores: readonly TrialScore[],
): { value: number; error: number } {
  const score = scores.find((one) => one.metric === metric);
  if (score === undefined) return { value: NaN, error: NaN };
  return kind === 'ensemble'
    ? { value: score.ensemble, error: score.ensembleError }
    : { value: score.meanMember, error: score.meanMemberError };
}

/**
 * The complete trials that were the best so far when they came, by the first objective and in the order of their
 * numbers. A trial replaces the best one if it is better by more than the study's minimum improvement. NaN never is.
 */
export function bestSoFar<T extends Pick<Trial, 'number' | 'state' | 'objectives'>>(
  { objectives, minimumImprovement }: Pick<Study, 'objectives' | 'minimumImprovement'>,
  trials: readonly T[],
): T[] {
  const [{ direction }] = objectives;
  const best: T[] = [];
  let least = Infinity;
  for (const trial of trials.toSorted((left, right) => left.number - right.number)) {
    const loss = trial.state === 'complete' ? lossOf(trial.objectives?.[0] ?? NaN, direction) : Infinity;
    if (loss >= least - (least === Infinity ? 0 : minimumImprovement)) continue;
    best.push(trial);
    least = loss;
  }
  return best;
}
