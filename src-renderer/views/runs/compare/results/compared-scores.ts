import type { RouteLocationRaw } from 'vue-router';
import { sweepStatus } from '../../../../../core/protocol/pages/sweeps/sweep-summary.ts';
import type { RunStatus } from '../../../../../core/protocol/run/record.ts';
import { bestOverSeeds, sweepScores } from '../../../../../core/protocol/run/sweep/sweep-scores.ts';
import { formatEstimate } from '../../../../../core/numeric/format-estimate.ts';
import { formatMetric, metricLabel } from '../../../../../core/text/numbers.ts';
import type { ComparedSubject } from '../compared-subject.ts';

export function statusOf({ sweep, runs }: ComparedSubject): RunStatus {
  return sweep === null ? runs[0].record.status : sweepStatus(sweep, recordsOf({ runs }));
}

/** The page of a run, or of a sweep. */
export function linkOf({ id, sweep }: Pick<ComparedSubject, 'id' | 'sweep'>): RouteLocationRaw {
  return sweep === null ? { name: 'run', params: { id } } : { name: 'compare', query: { runs: id } };
}

/** The best monitored value; of a sweep its mean, which belongs to no epoch. */
export function bestOf(subject: ComparedSubject): { metric: string; text: string; epoch: number | null } | null {
  if (subject.sweep === null) {
    const { best } = subject.runs[0].row;
    return best === null ? null : { metric: best.metric, text: formatMetric(best.value), epoch: best.epoch };
  }
  const best = bestOverSeeds(recordsOf(subject));
  return best === null || best.count === 0 ? null : { metric: best.metric, text: formatEstimate(best), epoch: null };
}

/** Metrics that tables of sweeps show, those that most ask for first. */
const shown = ['nll', 'mse', 'acc', 'ece', 'brier', 'pinball', 'crps', 'auroc'];

/** What the ensembles score on each set of checkpoints: a row for each metric. Runs without sweeps have no such rows. */
export function scoreRows(subjects: readonly ComparedSubject[]): { title: string; texts: string[] }[] {
  if (subjects.every(({ sweep }) => sweep === null)) return [];
  const scores = subjects.map((subject) =>
    // The mean of a single run is its value.
    sweepScores(recordsOf(subject)).filter(({ metric }) => shown.includes(metric)),
  );
  const titleOf = ({ set, split, metric }: (typeof scores)[number][number]): string =>
    `${metricLabel(metric)}, ${set} on ${split}`;
  const titles = [...new Set(scores.flatMap((own) => own.map(titleOf)))];
  return titles.map((title) => ({
    title,
    texts: scores.map((own) => {
      const found = own.find((score) => titleOf(score) === title);
      return found === undefined ? '-' : formatEstimate(found.ensemble);
    }),
  }));
}

function recordsOf({ runs }: Pick<ComparedSubject, 'runs'>) {
  return runs.map(({ record }) => record);
}
