import type { StudyTrial } from '../../../../core/protocol/pages/study-views.ts';
import { bestSoFar } from '../../../../core/protocol/studies/results.ts';
import type { Study } from '../../../../core/protocol/studies/study.ts';
import { paretoFront } from '../../../../core/search/pareto/front.ts';
import { lossesOf, lossOf, type Direction } from '../../../../core/search/trial.ts';
import type { PlotLine, PlotMark, PointGroup } from '../../../charts/scatter/types.ts';
import { formatValue } from '../../../../core/text/numbers.ts';

/** The best value of an objective so far, over the numbers of the trials. */
export function historyLine(study: Study, trials: readonly StudyTrial[], index: number): PlotLine {
  // The minimum improvement is one of the first objective.
  const minimumImprovement = index === 0 ? study.minimumImprovement : 0;
  const alone = trials.map((trial) => ({ ...trial, objectives: trial.objectives?.slice(index, index + 1) ?? null }));
  const best = bestSoFar({ objectives: [study.objectives[index]], minimumImprovement }, alone);
  const x = best.map(({ number }) => number);
  const y = best.map(({ objectives }) => objectives?.[0] ?? NaN);
  const last = trials.at(-1)?.number;
  const isHeld = last !== undefined && y.length > 0 && last > x[x.length - 1];
  return {
    label: 'best so far',
    isStep: true,
    x: isHeld ? [...x, last] : x,
    y: isHeld ? [...y, y[y.length - 1]] : y,
  };
}

/** Numbers of the complete trials that no other one dominates in all objectives. */
export function frontOf(trials: readonly StudyTrial[], directions: readonly Direction[]): Set<number> {
  const scored = trials
    .filter(({ state }) => state === 'complete')
    .map((trial) => ({ number: trial.number, losses: lossesOf(trial, directions) }))
    .filter(({ losses }) => losses.every(Number.isFinite));
  return new Set(paretoFront(scored.map(({ losses }) => losses)).map((row) => scored[row].number));
}

/** The front of two objectives as a staircase: what lies behind it is dominated. */
export function frontLine(trials: readonly StudyTrial[], front: ReadonlySet<number>): PlotLine {
  const points = trials
    .filter(({ number }) => front.has(number))
    .map(({ objectives }) => objectives ?? [])
    .toSorted(([left], [right]) => left - right);
  return { label: 'Pareto front', isStep: true, x: points.map(([x]) => x), y: points.map(([, y]) => y) };
}

/** A metric of the ensemble and of the mean member, over one parameter. */
export interface ComparedScores {
  groups: PointGroup[];
  /** At the best value of each. */
  marks: PlotMark[];
}

const subjects = [
  { label: 'ensemble', value: 'ensemble', error: 'ensembleError', look: { symbol: 'dot' } },
  { label: 'mean member', value: 'meanMember', error: 'meanMemberError', look: { symbol: 'ring', color: 'rank-1' } },
] as const;

/**
 * What the trials scored as ensembles and what their members scored, side by side, with standard errors over splits and
 * seeds.
 */
export function compareScores(
  trials: readonly StudyTrial[],
  metric: string,
  direction: Direction,
  xOf: (trial: StudyTrial) => number,
): ComparedScores {
  const scored = trials.flatMap((trial) => {
    const score = trial.state === 'complete' ? trial.scores.find((one) => one.metric === metric) : undefined;
    const x = xOf(trial);
    return score === undefined || Number.isNaN(x) ? [] : [{ id: trial.number, x, score }];
  });
  if (scored.length === 0) return { groups: [], marks: [] };
  return {
    groups: subjects.map(({ label, value, error, look }) => ({
      label,
      ...look,
      ids: scored.map(({ id }) => id),
      x: scored.map(({ x }) => x),
      y: scored.map(({ score }) => score[value]),
      ...(scored.some(({ score }) => Number.isFinite(score[error])) && {
        errors: scored.map(({ score }) => score[error]),
      }),
    })),
    marks: subjects.map(({ label, value, look }) => {
      const best = scored.reduce((least, one) =>
        lossOf(one.score[value], direction) < lossOf(least.score[value], direction) ? one : least,
      );
      return { x: best.x, label: `${label}: ${formatValue(best.score[value])} at ${formatValue(best.x)}`, ...look };
    }),
  };
}
