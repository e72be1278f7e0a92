import type { Generator } from '../../random/generator.ts';
import { holdsValue, levelOf, levelsOf } from '../space/domain.ts';
import { takesPart, type Assignment, type Space } from '../space/space.ts';
import type { Trial } from '../trial.ts';
import { combinationsOf, gridSize } from './grid.ts';
import type { Question } from './question.ts';

/** Draws before the configurations that are left are listed: by then nearly all of them have been tried. */
const mostDraws = 100;

/**
 * The configurations of a space that trials have had, whatever became of them: a repetition with the same seeds would
 * tell nothing new.
 */
export class TriedConfigurations {
  readonly #space: Space;
  readonly #keys: ReadonlySet<string>;

  constructor(space: Space, trials: readonly Pick<Trial, 'values'>[]) {
    this.#space = space;
    this.#keys = new Set(trials.flatMap(({ values }) => keyOf(space, values) ?? []));
  }

  /** Number of different ones. */
  get count(): number {
    return this.#keys.size;
  }

  has(values: Assignment): boolean {
    const key = keyOf(this.#space, values);
    return key !== null && this.#keys.has(key);
  }
}

/** Equal for equal configurations; null for values that are not a whole configuration of the space. */
function keyOf(space: Space, values: Assignment): string | null {
  const parts: string[] = [];
  for (const parameter of space) {
    const { path, domain } = parameter;
    if (!takesPart(parameter, values)) parts.push('');
    else if (!Object.hasOwn(values, path) || !holdsValue(domain, values[path])) return null;
    else parts.push(String(levelsOf(domain) === null ? values[path] : levelOf(domain, values[path])));
  }
  return parts.join(' ');
}

/** What a question may know of the other trials. */
export function triedBefore({ space, trials, number }: Pick<Question, 'space' | 'trials' | 'number'>) {
  return new TriedConfigurations(
    space,
    trials.filter((trial) => trial.number !== number),
  );
}

/** How many configurations a space has; null where a parameter is continuous. */
export function spaceSize(space: Space): number | null {
  return space.every(({ domain }) => levelsOf(domain) !== null) ? gridSize(space, 1) : null;
}

/**
 * The first of some draws that no trial has had, or one of those that are left, evenly; the last draw where there are
 * none.
 */
export function firstUntried(question: Question, generator: Generator, draw: () => Assignment): Assignment {
  const tried = triedBefore(question);
  let values = draw();
  for (let draws = 1; draws < mostDraws && tried.has(values); draws++) values = draw();
  return tried.has(values) ? (oneOfTheRest(question.space, tried, generator) ?? values) : values;
}

function oneOfTheRest(space: Space, tried: TriedConfigurations, generator: Generator): Assignment | null {
  const size = spaceSize(space);
  if (size === null || size <= tried.count) return null;
  let place = generator.integer(size - tried.count);
  for (const values of combinationsOf(space, 1)) if (!tried.has(values) && place-- === 0) return values;
  return null;
}

/** The first combination of the grid that no trial has had; null where they have had all. */
export function nextOfGrid(space: Space, points: number, tried: TriedConfigurations): Assignment | null {
  for (const values of combinationsOf(space, points)) if (!tried.has(values)) return values;
  return null;
}
