import { fromUnit } from '../space/domain.ts';
import { assign, type Assignment } from '../space/space.ts';
import type { Question } from './question.ts';
import { scrambledSobolPoint } from './sobol/sobol.ts';

/** The point of the trial's number in a scrambled Sobol sequence: covers the space more evenly than random points. */
export function suggestQuasiRandom({ space, seed, number }: Question): Assignment {
  const units = scrambledSobolPoint(number, space.length, seed);
  return assign(space, ({ domain }, index) => fromUnit(domain, units[index]));
}
