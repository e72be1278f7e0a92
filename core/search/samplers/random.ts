import { fromUnit } from '../space/domain.ts';
import { assign, type Assignment } from '../space/space.ts';
import { generatorFor, type Question } from './question.ts';
import { firstUntried } from './untried.ts';

/** Draws each parameter evenly over its scale, until no trial has had the configuration. */
export function suggestRandom(question: Question): Assignment {
  const generator = generatorFor(question, 'random');
  return firstUntried(question, generator, () => {
    // A parameter that takes no part draws too, so that a condition does not change the parameters after it.
    const units = question.space.map(() => generator.uniform());
    return assign(question.space, ({ domain }, index) => fromUnit(domain, units[index]));
  });
}
