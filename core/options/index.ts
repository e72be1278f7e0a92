/** Options of any zod object schema: descriptions for terminal, form and docs; parsing, merging and error messages. */
export { explainConfigError, formatConfigError } from './config-error.ts';
export type { ConfigProblem } from './config-error.ts';
export { describeOptions } from './describe.ts';
export type { OptionChoice, OptionDescription, OptionSection, OptionType } from './describe.ts';
export { getPath, mergeConfig, setPath } from './layers.ts';
export type { PlainObject } from './layers.ts';
export { leavesOf } from './parse.ts';
export { parseOptionValue } from './parse.ts';
export { describeRemedy, describeRule, isInRange, showValue } from './rule.ts';
export { unknownOptionMessage } from './suggest.ts';
