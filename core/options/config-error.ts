import type { z } from 'zod';
import type { OptionDescription } from './describe.ts';
import { getPath } from './layers.ts';
import { describeRemedy, describeRule, showValue } from './rule.ts';
import { unknownOptionMessage } from './suggest.ts';

export type ConfigErrorContext = {
  /** The parsed input, for the values in messages. */
  input?: unknown;
  /** The schema's options, for rules, defaults and suggestions in messages. */
  descriptions?: readonly OptionDescription[];
};

/** A problem of a configuration. */
export type ConfigProblem = {
  /** Path of the option; null if the problem is not one option's. */
  path: string | null;
  /** The value, the rule and the remedy. */
  message: string;
};

/**
 * Describes a failed parse of a configuration: one line for each issue, with the path, the value, the rule and the
 * remedy.
 */
export function formatConfigError(error: z.ZodError, context: ConfigErrorContext = {}): string {
  return explainConfigError(error, context)
    .map(({ message }) => message)
    .join('\n');
}

/** The problems of a failed parse of a configuration, one for each issue. */
export function explainConfigError(error: z.ZodError, context: ConfigErrorContext = {}): ConfigProblem[] {
  return error.issues.flatMap((issue) => explainIssue(issue, context));
}

function explainIssue(issue: z.core.$ZodIssue, context: ConfigErrorContext): ConfigProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const unknown = [...issue.path, key];
      return { path: unknown.join('.'), message: formatUnknown(unknown, context) };
    });
  }
  const path = issue.path.join('.');
  const subject = path === '' ? 'The configuration' : path;
  const value = getPath(context.input, issue.path);
  const description = findDescription(path, context);
  if (description === undefined) {
    const found = value === undefined ? '' : ` is ${showValue(value)}`;
    return [{ path: path === '' ? null : path, message: `${subject}${found}: ${issue.message}` }];
  }
  const state = value === undefined ? 'is missing: it' : `is ${showValue(value)}, but`;
  return [
    { path, message: `${subject} ${state} must be ${describeRule(description)}. ${describeRemedy(description)}` },
  ];
}

function formatUnknown(path: PropertyKey[], context: ConfigErrorContext): string {
  const { input, descriptions = [] } = context;
  const name = path.join('.');
  const elsewhere = descriptions.filter((description) => description.path === name && description.when !== undefined);
  const [when] = elsewhere.flatMap((description) => description.when ?? []);
  if (when === undefined) return unknownOptionMessage(name, descriptions);
  const kinds = elsewhere.flatMap((description) => description.when?.equals ?? []);
  const kind = showValue(getPath(input, when.path.split('.')));
  return (
    `${name} does not exist while ${when.path} is ${kind}, only for ${kinds.join(', ')}. Remove it, or change ` +
    `${when.path}.`
  );
}

/** The description that applies to the kinds in the input; if none does, the first one of that path. */
function findDescription(
  path: string,
  { input, descriptions = [] }: ConfigErrorContext,
): OptionDescription | undefined {
  const candidates = descriptions.filter((description) => description.path === path);
  const fitting = candidates.find(({ when }) => {
    const kind = when && getPath(input, when.path.split('.'));
    return typeof kind === 'string' && when?.equals.includes(kind);
  });
  return fitting ?? candidates[0];
}
