/** Options of any zod object schema: described for terminal, form and docs, read from text, layered, and explained. */
export { explainConfigError, formatConfigError } from './options/config-error.ts';
export type { ConfigProblem } from './options/config-error.ts';
export { describeOptions } from './options/describe.ts';
export type { OptionChoice, OptionDescription, OptionSection, OptionType } from './options/describe.ts';
export { getPath, mergeConfig, setPath } from './options/layers.ts';
export type { PlainObject } from './options/layers.ts';
export { parseOptionValue } from './options/parse.ts';
export { describeRemedy, describeRule, isInRange, showValue } from './options/rule.ts';
export { unknownOptionMessage } from './options/suggest.ts';
