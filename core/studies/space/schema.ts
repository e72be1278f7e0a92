import { domainOf, holdsValue, levelsOf, type Parameter, parameterSchema } from './domain.ts';
import { z } from 'zod';

/** The space of a study, by path of the option or name of the project's hyperparameter: `search` of a `project.ts`. */
export const searchSpaceSchema = z
  .record(z.string().min(1), parameterSchema)
  .refine((parameters) => Object.keys(parameters).length > 0, 'A search needs at least one parameter: name one.')
  .superRefine((parameters, context) => {
    for (const { path, message } of explainSpaceFaults(parameters))
      context.addIssue({ code: 'custom', path: [path], message });
  });
export type SearchSpace = z.infer<typeof searchSpaceSchema>;

export interface SpaceFault {
  /** The parameter. */
  path: string;
  /** Value, rule and remedy. */
  message: string;
}

/** What is wrong with a space beyond the form of its parameters: ranges, choices, conditions. */
function explainSpaceFaults(parameters: Readonly<Record<string, Parameter>>): SpaceFault[] {
  return Object.entries(parameters).flatMap(([path, parameter]) => {
    const message = explainRange(parameter) ?? explainCondition(path, parameter, parameters);
    return message === null ? [] : [{ path, message }];
  });
}

function explainRange(parameter: Parameter): string | null {
  if (parameter.kind === 'choice') return explainChoices(parameter.choices);
  const { kind, low, high } = parameter;
  if (low >= high) return `${kind} from ${low} to ${high} is empty: give the lower bound first, below the upper one.`;
  if ((kind === 'log' || kind === 'log-int') && low <= 0) {
    return (
      `${kind} from ${low} to ${high}: a logarithmic scale begins above 0. Raise the lower bound, or use ` +
      `${kind === 'log' ? 'float' : 'int'}.`
    );
  }
  const step = 'step' in parameter ? parameter.step : undefined;
  if (step !== undefined && step <= 0) return `The step is ${step}, but must be above 0.`;
  if (step !== undefined && step > high - low) {
    return `The step ${step} is wider than the range from ${low} to ${high}: make it at most ${high - low}.`;
  }
  return null;
}

function explainChoices(choices: readonly unknown[]): string | null {
  const repeated = choices.find((choice, index) => choices.indexOf(choice) < index);
  return repeated === undefined
    ? null
    : `The value ${JSON.stringify(repeated)} stands there twice: name each value once.`;
}

function explainCondition(
  path: string,
  { when }: Parameter,
  parameters: Readonly<Record<string, Parameter>>,
): string | null {
  if (when === undefined) return null;
  const circle = findCircle(path, parameters);
  if (circle !== null) return `The conditions run in a circle, ${circle.join(' → ')}: remove one of them.`;
  if (!Object.hasOwn(parameters, when.path)) {
    return `It depends on ${when.path}, which is not searched: search ${when.path} too, or remove the condition.`;
  }
  const parent = domainOf(parameters[when.path]);
  if (levelsOf(parent) === null) {
    return `It depends on ${when.path}, which has no separate values: depend on a choice, or on an int or step.`;
  }
  const impossible = when.equals.find((value) => !holdsValue(parent, value));
  if (impossible === undefined) return null;
  return (
    `It depends on ${when.path} being ${JSON.stringify(impossible)}, which ${when.path} never is: name one of ` +
    'its values.'
  );
}

/** The chain of parents that leads from a parameter back to itself, or null. */
function findCircle(path: string, parameters: Readonly<Record<string, Parameter>>): string[] | null {
  const chain = [path];
  for (;;) {
    const parent = Object.hasOwn(parameters, chain[chain.length - 1])
      ? parameters[chain[chain.length - 1]].when?.path
      : undefined;
    if (parent === undefined) return null;
    const met = chain.includes(parent);
    chain.push(parent);
    if (met) return parent === path ? chain : null;
  }
}
