import type { OptionDescription, OptionType } from './describe.ts';

const rules: Record<OptionType, (description: OptionDescription) => string> = {
  integer: (description) => `a whole number${describeRange(description)}`,
  'auto-or-count': (description) => `auto or a whole number${describeRange(description)}`,
  number: (description) => `a number${describeRange(description)}`,
  boolean: () => 'true or false',
  choice: ({ choices = [] }) => `one of ${choices.map((choice) => choice.value).join(', ')}`,
  'device-selection': () => 'a selection of devices, such as auto, 2, or 0,2',
  string: () => 'text',
  json: () => 'JSON of the right form',
};

/** The rule for a value, as words after "must be": `a whole number from 1 to 256`, `one of sgd, adam, adamw`. */
export function describeRule(description: OptionDescription): string {
  return rules[description.type](description);
}

/** ` from 1 to 256`, ` above 0`, ` of at least 0 and below 1`; empty without bounds. */
function describeRange({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: OptionDescription): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  const lower =
    exclusiveMinimum !== undefined ? `above ${exclusiveMinimum}` : minimum !== undefined && `of at least ${minimum}`;
  const upper =
    exclusiveMaximum !== undefined ? `below ${exclusiveMaximum}` : maximum !== undefined && `of at most ${maximum}`;
  const bounds = [lower, upper].filter((bound) => bound !== false);
  return bounds.length === 0 ? '' : ` ${bounds.join(' and ')}`;
}

/** Whether a number is within an option's bounds. */
export function isInRange(value: number, description: OptionDescription): boolean {
  const {
    minimum = -Infinity,
    maximum = Infinity,
    exclusiveMinimum = -Infinity,
    exclusiveMaximum = Infinity,
  } = description;
  return value >= minimum && value <= maximum && value > exclusiveMinimum && value < exclusiveMaximum;
}

/** What to do about a wrong value. */
export function describeRemedy(description: OptionDescription): string {
  if (description.default === undefined) return 'It has no default.';
  return `Leave it out for the default, ${showValue(description.default)}.`;
}

export function showValue(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
