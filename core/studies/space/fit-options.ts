import { describeRule, type OptionDescription, parseOptionValue, unknownOptionMessage } from '../../options/index.ts';
import { type Domain, domainOf, levelsOf, type ParameterValue, valueOfLevel } from './domain.ts';
import type { SearchSpace, SpaceFault } from './schema.ts';

/** Options that a study sets itself, with what to use instead. */
const ownOptions: Readonly<Record<string, string>> = {
  seed: 'a study repeats its trials with several seeds by --seeds',
  identicalSeeds: 'members with the same seed are no ensemble',
  devices: 'a study shares the devices among its trials',
};

/** More values than these are checked at their bounds only. */
const checkedLevels = 1000;

/**
 * What of a space no run would accept: unknown options, with the closest names, and values that are no values of their
 * options.
 * @param options those of every run by path, and the project's hyperparameters by name
 */
export function explainUnfitting(space: SearchSpace, options: readonly OptionDescription[]): SpaceFault[] {
  return Object.entries(space).flatMap(([path, parameter]) => {
    const message = explainParameter(path, domainOf(parameter), options);
    return message === null ? [] : [{ path, message }];
  });
}

function explainParameter(path: string, domain: Domain, options: readonly OptionDescription[]): string | null {
  if (Object.hasOwn(ownOptions, path)) return `${path} cannot be searched: ${ownOptions[path]}.`;
  // Kinds of a union may describe the option of one path differently. Which kind applies is known once a trial has its
  // values.
  const variants = options.filter((option) => option.path === path);
  if (variants.length === 0) return unknownOptionMessage(path, options);
  const unfit = valuesOf(domain).find((value) => variants.every((option) => !fits(option, value)));
  if (unfit === undefined) return null;
  const rules = [...new Set(variants.map(describeRule))].join(' or ');
  return `${path} would be ${JSON.stringify(unfit)}, but must be ${rules}. Search only such values.`;
}

/** The values to check: all levels, or the bounds and, of a continuous domain, a value between them. */
function valuesOf(domain: Domain): ParameterValue[] {
  const levels = levelsOf(domain);
  if (levels !== null && levels <= checkedLevels) {
    return Array.from({ length: levels }, (_, level) => valueOfLevel(domain, level));
  }
  if (domain.kind === 'choice') return [...domain.choices];
  const { low, high, step } = domain;
  // An option of whole numbers refuses the irrational number between the bounds.
  return step === null ? [low, high, low + (high - low) * Math.SQRT1_2] : [low, high, low + step];
}

function fits(option: OptionDescription, value: ParameterValue): boolean {
  if (option.type === 'json') return true;
  if (typeof value === 'string' ? ['number', 'integer', 'boolean'].includes(option.type) : option.type === 'string') {
    return false;
  }
  try {
    parseOptionValue(option, String(value));
    return true;
  } catch {
    return false;
  }
}
