import { logExpectedImprovement, logExpectedImprovementSlope } from '../../../numeric/normal.ts';
import { minimize, type Evaluation } from '../../../numeric/minimize.ts';
import type { Generator } from '../../../random/generator.ts';
import type { Space } from '../../space/space.ts';
import { decode, isContinuous, otherCoordinates, settle } from './points.ts';
import type { Regression } from './regression.ts';

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
export function maximizeImprovement(
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
