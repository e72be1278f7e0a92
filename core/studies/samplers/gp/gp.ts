import type { Generator } from '../../../random/generator.ts';
import type { Assignment } from '../../space/space.ts';
import { lossesOf, type Trial } from '../../trial.ts';
import { generatorFor, type Question } from '../question.ts';
import { suggestRandom } from '../quasi-random.ts';
import { triedBefore } from '../untried.ts';
import { fitCovariance } from './fit.ts';
import { maximizeImprovement } from './maximize.ts';
import { decode, encode } from './points.ts';
import { isChoice, Regression } from './regression.ts';

/** More trials than these would take seconds for a suggestion: the newest are kept, and the best. */
const usedTrials = 200;

export interface GpSettings {
  /** Trials that are drawn at random first. */
  startupTrials: number;
}

/**
 * Bayesian optimization with a Gaussian process: Matérn 5/2 with a length for each parameter, and the logarithm of the
 * expected improvement. For small budgets: its time grows with the cube of the trials. Running trials count with the
 * value that the process expects of them (the kriging believer). Several objectives become one by weights drawn for
 * each trial.
 *
 * Source: Ament et al., "Unexpected improvements to expected improvement", 2023; Ginsbourger et al., "Kriging is
 * well-suited to parallelize optimization", 2010; Knowles, "ParEGO", 2006.
 */
export function suggestGp({ startupTrials }: GpSettings, question: Question): Assignment {
  const { space, directions, number } = question;
  const trials = question.trials
    .filter((trial) => trial.number !== number)
    .toSorted((left, right) => left.number - right.number);
  const complete = trials.filter(({ state }) => state === 'complete');
  if (complete.length < startupTrials || complete.length < 2) return suggestRandom(question);
  const generator = generatorFor(question, 'gp');
  const all = toTargets(
    complete.map((trial) => lossesOf(trial, directions)),
    generator,
  );
  const used = chooseTrials(complete, all);
  const targets = standardize(Float64Array.from(used, ({ target }) => target));
  const points = used.map(({ trial }) => encode(space, trial.values));
  const choices = isChoice(space);
  const covariance = fitCovariance(points, targets, choices);
  let regression = new Regression(points, targets, choices, covariance);
  const open = trials
    .filter(({ state }) => state === 'running' || state === 'paused')
    .map(({ values }) => encode(space, values));
  if (open.length > 0) {
    const believed = Float64Array.of(...targets, ...open.map((point) => regression.predict(point).mean));
    regression = new Regression([...points, ...open], believed, choices, covariance);
  }
  const best = targets.indexOf(Math.max(...targets));
  const tried = triedBefore(question);
  const isNew = (point: Float64Array): boolean => !tried.has(decode(space, point));
  const found = maximizeImprovement(
    space,
    regression,
    { best: targets[best], incumbent: points[best], isNew },
    generator,
  );
  return found === null ? suggestRandom(question) : decode(space, found);
}

/**
 * Values to maximize: the negative losses, of several objectives the negative augmented Chebyshev norm with random
 * weights.
 */
function toTargets(losses: readonly (readonly number[])[], generator: Generator): Float64Array {
  const columns = losses[0].map((_, objective) => withoutInfinities(losses.map((row) => row[objective])));
  if (columns.length === 1) return Float64Array.from(columns[0], (loss) => -loss);
  const drawn = columns.map(() => -Math.log(1 - generator.uniform()));
  const sum = drawn.reduce((total, weight) => total + weight, 0);
  const weighted = columns.map((column, objective) => {
    const [least, most] = [Math.min(...column), Math.max(...column)];
    return column.map((loss) => (drawn[objective] / sum) * (most > least ? (loss - least) / (most - least) : 0));
  });
  return Float64Array.from(losses, (_, row) => {
    const parts = weighted.map((column) => column[row]);
    return -Math.max(...parts) - 0.05 * parts.reduce((total, part) => total + part, 0);
  });
}

/** Infinite losses as the worst, or best, finite one. */
function withoutInfinities(losses: readonly number[]): number[] {
  const finite = losses.filter(Number.isFinite);
  const [least, most] = finite.length === 0 ? [0, 0] : [Math.min(...finite), Math.max(...finite)];
  return losses.map((loss) => Math.min(Math.max(loss, least), most));
}

function chooseTrials(complete: readonly Trial[], targets: Float64Array): { trial: Trial; target: number }[] {
  const rows = complete.map((trial, row) => ({ trial, target: targets[row] }));
  if (rows.length <= usedTrials) return rows;
  const best = rows.reduce((found, other) => (other.target > found.target ? other : found));
  const newest = rows.slice(-usedTrials);
  return newest.includes(best) ? newest : [best, ...newest.slice(1)];
}

function standardize(values: Float64Array): Float64Array {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) || 1;
  return values.map((value) => (value - mean) / deviation);
}
