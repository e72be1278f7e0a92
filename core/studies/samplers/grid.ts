import { type Domain, fromUnit, levelsOf, type ParameterValue, valueOfLevel } from '../space/domain.ts';
import { type Assignment, type Space, takesPart } from '../space/space.ts';

/**
 * The combinations of the grid. The last parameter changes fastest. Choices and steps contribute all of their values,
 * continuous parameters `points` values from bound to bound, evenly on their scale.
 */
export function combinationsOf(space: Space, points: number): Generator<Assignment> {
  return combinations(space, points, {}, 0);
}

/** How many combinations the grid has. A parameter counts only where its condition holds. */
export function gridSize(space: Space, points: number): number {
  const sizeFrom = (place: number, values: Assignment): number => {
    if (place === space.length) return 1;
    const parameter = space[place];
    if (!takesPart(parameter, values)) return sizeFrom(place + 1, values);
    const levels = gridValues(parameter.domain, points);
    if (!space.some(({ when }) => when?.path === parameter.path)) return levels.length * sizeFrom(place + 1, values);
    return levels.reduce<number>((sum, value) => sum + sizeFrom(place + 1, { ...values, [parameter.path]: value }), 0);
  };
  return sizeFrom(0, {});
}

function* combinations(space: Space, points: number, values: Assignment, place: number): Generator<Assignment> {
  if (place === space.length) {
    yield values;
    return;
  }
  const parameter = space[place];
  if (!takesPart(parameter, values)) {
    yield* combinations(space, points, values, place + 1);
    return;
  }
  for (const value of gridValues(parameter.domain, points)) {
    yield* combinations(space, points, { ...values, [parameter.path]: value }, place + 1);
  }
}

function gridValues(domain: Domain, points: number): ParameterValue[] {
  const levels = levelsOf(domain);
  if (levels !== null) return Array.from({ length: levels }, (_, level) => valueOfLevel(domain, level));
  if (points === 1) return [fromUnit(domain, 0.5)];
  return Array.from({ length: points }, (_, point) => fromUnit(domain, point / (points - 1)));
}
