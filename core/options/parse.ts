import type { OptionDescription, OptionType } from './describe.ts';
import { describeRemedy, describeRule, isInRange } from './rule.ts';
import { nearest } from './suggest.ts';

/** Parsers by type of option; undefined if the text is not valid. */
const readers: Record<OptionType, (text: string, description: OptionDescription) => unknown> = {
  number: (text, description) => readNumber(text, description, Number.isFinite),
  integer: (text, description) => readNumber(text, description, Number.isSafeInteger),
  'auto-or-count': (text, description) =>
    text.trim() === 'auto' ? 'auto' : readNumber(text, description, Number.isSafeInteger),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  string: (text) => text,
  choice: (text, { choices = [] }) => choices.find((choice) => choice.value === text)?.value,
  'device-selection': (text) => (text.trim() === '' ? undefined : text),
  json: readJson,
};

/**
 * Parses an option's value from the text after its flag. Device selections stay text: parsing them needs the devices.
 *
 * @throws Error that gives the text, the rule and the remedy
 */
export function parseOptionValue(description: OptionDescription, text: string): unknown {
  const value = readers[description.type](text, description);
  if (value !== undefined) return value;
  const choices = (description.choices ?? []).map((choice) => choice.value);
  const [guess] = nearest(text, choices);
  const remedy = guess === undefined ? describeRemedy(description) : `Did you mean ${guess}?`;
  throw new Error(`${description.flag} "${text}": it must be ${describeRule(description)}. ${remedy}`);
}

function readNumber(
  text: string,
  description: OptionDescription,
  fits: (value: number) => boolean,
): number | undefined {
  const value = text.trim() === '' ? NaN : Number(text);
  return fits(value) && isInRange(value, description) ? value : undefined;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The options of a configuration with their paths, `earlyStopping.patience`; an array is one value. */
export function leavesOf(config: object, path = ''): [path: string, value: unknown][] {
  return Object.entries(config).flatMap(([key, child]: [string, unknown]): [string, unknown][] => {
    const childPath = path === '' ? key : `${path}.${key}`;
    const hasMembers = typeof child === 'object' && child !== null && !Array.isArray(child);
    return hasMembers ? leavesOf(child, childPath) : [[childPath, child]];
  });
}
