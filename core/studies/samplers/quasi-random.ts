import { fromUnit } from '../space/domain.ts';
import { assign, type Assignment } from '../space/space.ts';
import { generatorFor, type Question } from './question.ts';
import { scrambledSobolPoint } from './sobol.ts';
import { firstUntried } from './untried.ts';

/**
 * The point of the trial's number in a scrambled Sobol sequence, or the first one after it whose configuration no trial
 * has had: covers the space more evenly than random points.
 */
export function suggestQuasiRandom(question: Question): Assignment {
  const { space, seed } = question;
  let point = question.number;
  return firstUntried(question, generatorFor(question, 'quasi-random'), () => {
    const units = scrambledSobolPoint(point++, space.length, seed);
    return assign(space, ({ domain }, index) => fromUnit(domain, units[index]));
  });
}

/** Draws each parameter evenly over its scale, until no trial has had the configuration. */
export function suggestRandom(question: Question): Assignment {
  const generator = generatorFor(question, 'random');
  return firstUntried(question, generator, () => {
    // A parameter that takes no part draws too, so that a condition does not change the parameters after it.
    const units = question.space.map(() => generator.uniform());
    return assign(question.space, ({ domain }, index) => fromUnit(domain, units[index]));
  });
}
