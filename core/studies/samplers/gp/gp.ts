import type { Generator } from '../../../random/generator.ts';
import type { Assignment, Space } from '../../space/space.ts';
import { lossesOf, type Trial } from '../../trial.ts';
import { generatorFor, type Question } from '../question.ts';
import { suggestRandom } from '../quasi-random.ts';
import { triedBefore } from '../untried.ts';
import { fitCovariance } from './fit.ts';
import { decode, encode, isContinuous, otherCoordinates, settle } from './points.ts';
import { isChoice, Regression } from './regression.ts';
import { logExpectedImprovement, logExpectedImprovementSlope } from '../../../numeric/normal.ts';
import { type Evaluation, minimize } from '../../../numeric/minimize.ts';

/** Random points, of which some are improved. */
const drawnPoints = 1024;
const improvedPoints = 8;
/** Rounds of continuous and discrete improvement. */
const rounds = 4;

type Scored = { point: Float64Array; score: number };

/**
 * The point of the largest expected improvement over `best`, as a logarithm: the best of random points, improved by
 * gradients in the continuous dimensions and by trial in the others.
 *
 * @param known the value to improve on, the point that has it, from which the search begins too, and which points no
 * trial has had
 * @returns null if all points that it came to were tried
 */
function maximizeImprovement(
  space: Space,
  regression: Regression,
  { best, incumbent, isNew }: { best: number; incumbent: Float64Array; isNew: (point: Float64Array) => boolean },
  generator: Generator,
): Float64Array | null {
  const scoreOf = (point: Float64Array): number => {
    const { mean, variance } = regression.predict(point);
    const deviation = Math.sqrt(variance);
    return logExpectedImprovement((mean - best) / deviation) + Math.log(deviation);
  };
  const drawn = Array.from({ length: drawnPoints }, (): Scored => {
    const point = settle(space, drawPoint(space, generator));
    return { point, score: scoreOf(point) };
  });
  const starts = [...chooseStarts(drawn, generator), { point: incumbent, score: scoreOf(incumbent) }];
  const improved = starts.map((start) => improve(space, regression, best, start, scoreOf));
  return (
    [...improved, ...drawn].reduce<Scored | null>(
      (found, other) => ((found === null || other.score > found.score) && isNew(other.point) ? other : found),
      null,
    )?.point ?? null
  );
}

function drawPoint(space: Space, generator: Generator): Float64Array {
  return Float64Array.from(space, ({ domain }) => {
    const unit = generator.uniform();
    return domain.kind === 'choice' ? Math.floor(unit * domain.choices.length) : unit;
  });
}

/** The best point, and others in proportion to their expected improvement. */
function chooseStarts(drawn: readonly Scored[], generator: Generator): Scored[] {
  const best = drawn.reduce((found, other) => (other.score > found.score ? other : found));
  const chosen = [best];
  const rest = drawn
    .filter((other) => other !== best)
    .map((scored) => ({ scored, weight: Math.exp(scored.score - best.score) }));
  while (chosen.length < improvedPoints) {
    const sum = rest.reduce((total, { weight }) => total + weight, 0);
    if (!(sum > 0)) break;
    let place = generator.uniform() * sum;
    const index = rest.findIndex(({ weight }) => (place -= weight) < 0);
    const [{ scored }] = rest.splice(index === -1 ? rest.length - 1 : index, 1);
    chosen.push(scored);
  }
  return chosen;
}

function improve(
  space: Space,
  regression: Regression,
  best: number,
  start: Scored,
  scoreOf: (point: Float64Array) => number,
): Scored {
  let current = start;
  for (let round = 0; round < rounds; round++) {
    const before = current.score;
    current = climb(space, regression, best, current);
    for (const index of space.keys()) {
      for (const coordinate of otherCoordinates(space, index, current.point[index])) {
        const point = settle(space, current.point.with(index, coordinate));
        const score = scoreOf(point);
        if (score > current.score) current = { point, score };
      }
    }
    if (current.score - before < 1e-6) break;
  }
  return current;
}

/** Follows the gradient in the continuous dimensions that take part. */
function climb(space: Space, regression: Regression, best: number, start: Scored): Scored {
  const values = decode(space, start.point);
  const moves = [...space.keys()].map((index) => isContinuous(space, index, values));
  if (!moves.includes(true)) return start;
  const lower = start.point.map((coordinate, index) => (moves[index] ? 0 : coordinate));
  const upper = start.point.map((coordinate, index) => (moves[index] ? 1 : coordinate));
  const evaluate = (point: Float64Array): Evaluation => negativeImprovement(regression, best, point);
  const { place, value } = minimize(evaluate, start.point, { lower, upper, iterations: 50, tolerance: 1e-4 });
  return -value > start.score ? { point: place, score: -value } : start;
}

function negativeImprovement(regression: Regression, best: number, point: Float64Array): Evaluation {
  const { mean, variance, meanGradient, varianceGradient } = regression.predictWithGradients(point);
  const deviation = Math.sqrt(variance);
  const place = (mean - best) / deviation;
  const slope = logExpectedImprovementSlope(place);
  const gradient = meanGradient.map((meanSlope, index) => {
    const deviationSlope = varianceGradient[index] / (2 * deviation);
    return -(slope * (meanSlope - place * deviationSlope) + deviationSlope) / deviation;
  });
  return { value: -(logExpectedImprovement(place) + Math.log(deviation)), gradient };
}

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
