import { fromUnit, levelsOf, toUnit, valueOfLevel } from '../../space/domain.ts';
import { assign, takesPart, type Assignment, type Space } from '../../space/space.ts';

/** The middle, for a parameter that takes no part. */
const absentNumber = 0.5;
/** No choice, for a parameter that takes no part. */
const absentChoice = -1;

/**
 * An assignment as a point: numbers in [0, 1], choices by their index. A parameter that takes no part has a fixed
 * coordinate (Lévesque et al., "Bayesian optimization for conditional hyperparameter spaces", 2017).
 */
export function encode(space: Space, values: Assignment): Float64Array {
  return Float64Array.from(space, (parameter) => {
    const { path, domain } = parameter;
    if (!takesPart(parameter, values) || !Object.hasOwn(values, path))
      return domain.kind === 'choice' ? absentChoice : absentNumber;
    return domain.kind === 'choice' ? domain.choices.indexOf(values[path]) : toUnit(domain, values[path]);
  });
}

/** The assignment of a point, each coordinate moved to the nearest value. */
export function decode(space: Space, point: Float64Array): Assignment {
  return assign(space, ({ domain }, index) =>
    domain.kind === 'choice' ? domain.choices[Math.max(point[index], 0)] : fromUnit(domain, point[index]),
  );
}

/** The point of the assignment that is nearest to a point. */
export function settle(space: Space, point: Float64Array): Float64Array {
  return encode(space, decode(space, point));
}

/** Whether a coordinate moves continuously at a point. */
export function isContinuous(space: Space, index: number, values: Assignment): boolean {
  return levelsOf(space[index].domain) === null && takesPart(space[index], values);
}

/**
 * The coordinates of other values that are worth a try in a discrete dimension: all of up to 16, else neighbours near
 * and far.
 */
export function otherCoordinates(space: Space, index: number, coordinate: number): number[] {
  const { domain } = space[index];
  const levels = levelsOf(domain);
  if (levels === null || coordinate === absentChoice) return [];
  if (domain.kind === 'choice') return [...domain.choices.keys()].filter((choice) => choice !== coordinate);
  const units = (level: number): number => toUnit(domain, valueOfLevel(domain, level));
  if (levels <= 16)
    return Array.from({ length: levels }, (_, level) => units(level)).filter((unit) => unit !== coordinate);
  return [-0.25, -0.1, -0.03, 0.03, 0.1, 0.25]
    .flatMap((move) => [coordinate + move])
    .concat([-1, 1].map((step) => coordinate + step / levels))
    .map((unit) => Math.min(Math.max(unit, 0), 1));
}
