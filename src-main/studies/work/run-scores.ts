import { answerSubject } from '../../../core/metrics/combination.ts';
import { combinationOf } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { lossOf, type Direction } from '../../../core/studies/trial.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { type MemberCount, memberCountOf } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
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

/** What the scores of a run's evaluations are read from. */
export interface ScoredRun {
  metrics: readonly WantedMetric[];
  members: MemberCount;
  /** The names that the ensemble's value of a metric may have, of which a run has one. */
  ensembleNames: (metric: string) => string[];
}

export function scoredRunOf(
  metrics: readonly WantedMetric[],
  { config, task }: Pick<RunRecord, 'config' | 'task'>,
): ScoredRun {
  const subject = answerSubject[combinationOf(config.strategy, task)];
  // A metric of the whole ensemble, such as its disagreement, has no prefix.
  const ensembleNames = (metric: string): string[] => [`val/${subject}_${metric}`, `val/${metric}`];
  return { metrics, members: memberCountOf(config), ensembleNames };
}

/** Puts the points of a run's ranks together to evaluations, each once it is whole. */
export class EvaluationCollector {
  readonly #run: ScoredRun;
  readonly #open = new Map<number, Map<string, number>>();
  readonly #done = new Set<number>();

  constructor(run: ScoredRun) {
    this.#run = run;
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
    const evaluations = evaluationOf(epoch, values, this.#run);
    if (evaluations.length === 0) return [];
    this.#open.delete(epoch);
    this.#done.add(epoch);
    return evaluations;
  }
}

/** The scores of one evaluation; empty if a value is missing. */
function evaluationOf(epoch: number, values: ReadonlyMap<string, number>, run: ScoredRun): Evaluation[] {
  const scores = run.metrics.flatMap(({ metric }) => scoreOf(metric, values, run) ?? []);
  return scores.length < run.metrics.length ? [] : [{ step: epoch + 1, scores }];
}

/** A metric of the ensemble and the mean of its members', from the values of one evaluation; null if one is missing. */
function scoreOf(
  metric: string,
  values: ReadonlyMap<string, number>,
  { members, ensembleNames }: ScoredRun,
): Score | null {
  const name = ensembleNames(metric).find((one) => values.has(one));
  const ensemble = name === undefined ? undefined : values.get(name);
  if (ensemble === undefined) return null;
  if (name === `val/${metric}`) return { metric, ensemble, meanMember: NaN };
  const own = Array.from({ length: members }, (_, rank) => values.get(`val/member_${rank}_${metric}`));
  const known = own.filter((value) => value !== undefined);
  if (known.length < members) return null;
  return { metric, ensemble, meanMember: known.reduce((sum, value) => sum + value, 0) / members };
}

/** The evaluations of a run so far, from its folder. */
export async function readEvaluations(folder: string, run: ScoredRun): Promise<Evaluation[]> {
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
      return [...byEpoch].flatMap(([epoch, values]) => evaluationOf(epoch, values, run));
    },
    () => undefined,
  );
}

/**
 * Returns the scores of a run: those of the last evaluation, or the best value of each metric over all evaluations,
 * separately for the ensemble and the mean member.
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
      `The run has no evaluation with ${names} of the ensemble and all members. Name metrics that it computes; ` +
        'docs/metrics.md lists them.',
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
