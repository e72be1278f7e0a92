import { lossOf, type Direction } from '../../../core/search/trial.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import type { Score } from '../../../core/protocol/studies/study-line.ts';
import type { PointBatch } from '../../../core/protocol/wire/points.ts';
import { withMetricRows } from '../../store/metrics/metric-rows.ts';
import type { Evaluation } from './runner.ts';

/** A metric of a study, and which of its values is better. */
export interface WantedMetric {
  metric: string;
  direction: Direction;
}

/** Puts the points of a run's ranks together to evaluations, each once it is whole. */
export class EvaluationCollector {
  readonly #metrics: readonly WantedMetric[];
  readonly #members: number;
  readonly #open = new Map<number, Map<string, number>>();
  readonly #done = new Set<number>();

  constructor(metrics: readonly WantedMetric[], members: number) {
    this.#metrics = metrics;
    this.#members = members;
  }

  /** @returns the evaluations that these points complete */
  take({ names, nameIndex, epoch, value }: PointBatch): Evaluation[] {
    const touched = new Set<number>();
    nameIndex.forEach((name, index) => {
      if (!names[name].startsWith('val/') || this.#done.has(epoch[index])) return;
      const values = this.#open.get(epoch[index]) ?? new Map<string, number>();
      values.set(names[name], value[index]);
      this.#open.set(epoch[index], values);
      touched.add(epoch[index]);
    });
    return [...touched].sort((left, right) => left - right).flatMap((at) => this.#complete(at));
  }

  #complete(epoch: number): Evaluation[] {
    const values = this.#open.get(epoch) ?? new Map<string, number>();
    const scores = this.#metrics.map(({ metric }) => scoreOf(metric, values, this.#members));
    if (scores.some((score) => score === null)) return [];
    this.#open.delete(epoch);
    this.#done.add(epoch);
    return [{ step: epoch + 1, scores: scores.flatMap((score) => score ?? []) }];
  }
}

/** A metric of the ensemble and the mean of its members', from the values of one evaluation; null if one is missing. */
function scoreOf(metric: string, values: ReadonlyMap<string, number>, members: number): Score | null {
  const ensemble = values.get(`val/ens_${metric}`) ?? values.get(`val/${metric}`);
  if (ensemble === undefined) return null;
  // A metric of the whole ensemble, such as its disagreement, has no values of members.
  if (!values.has(`val/ens_${metric}`)) return { metric, ensemble, meanMember: NaN };
  const own = Array.from({ length: members }, (_, rank) => values.get(`val/member_${rank}_${metric}`));
  const known = own.filter((value) => value !== undefined);
  if (known.length < members) return null;
  return { metric, ensemble, meanMember: known.reduce((sum, value) => sum + value, 0) / members };
}

/** The evaluations of a run so far, from its folder. */
export async function readEvaluations(
  folder: string,
  metrics: readonly WantedMetric[],
  members: number,
): Promise<Evaluation[]> {
  return withMetricRows(
    folder,
    async (rows) => {
      const byEpoch = new Map<number, Map<string, number>>();
      for await (const portion of rows) {
        for (const { epoch, cells } of portion) {
          const values = byEpoch.get(epoch) ?? new Map<string, number>();
          for (const [column, cell] of cells.entries()) if (cell !== null) values.set(rows.columns[column], cell);
          byEpoch.set(epoch, values);
        }
      }
      return [...byEpoch].flatMap(([epoch, values]) => {
        const scores = metrics.map(({ metric }) => scoreOf(metric, values, members));
        return scores.some((score) => score === null)
          ? []
          : [{ step: epoch + 1, scores: scores.flatMap((score) => score ?? []) }];
      });
    },
    () => undefined,
  );
}

/**
 * What counts of a run: the last evaluation, or the best value of each metric over all evaluations, of the ensemble and of the mean member apart.
 * @throws Error if the run computed no such metric
 */
export function scoresOfRun(
  evaluations: readonly Evaluation[],
  metrics: readonly WantedMetric[],
  evaluation: Study['evaluation'],
): Score[] {
  const last = evaluations.at(-1);
  if (last === undefined) {
    const names = metrics.map(({ metric }) => metric).join(', ');
    throw new Error(
      `The run has no evaluation with ${names} of the ensemble and all members. Name metrics that it computes; docs/metrics.md lists them.`,
    );
  }
  if (evaluation === 'last') return last.scores;
  return metrics.map(({ metric, direction }) => {
    const own = evaluations.flatMap(({ scores }) => scores.filter((score) => score.metric === metric));
    const best = (values: readonly number[]): number =>
      values.reduce((least, value) => (lossOf(value, direction) < lossOf(least, direction) ? value : least), NaN);
    return {
      metric,
      ensemble: best(own.map((score) => score.ensemble)),
      meanMember: best(own.map((score) => score.meanMember)),
    };
  });
}

/** The metrics of a study's objectives with their directions, each once. */
export function wantedMetrics({ objectives }: Pick<Study, 'objectives'>): WantedMetric[] {
  const directions = new Map(objectives.map(({ metric, direction }) => [metric, direction]));
  return [...directions].map(([metric, direction]) => ({ metric, direction }));
}
