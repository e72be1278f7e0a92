import {
  type Condition,
  describeDomain,
  type Domain,
  domainOf,
  holdsValue,
  type Parameter,
  type ParameterValue,
} from './domain.ts';
import type { SearchSpace } from './schema.ts';

/** A value for each parameter that takes part, by path. */
export type Assignment = Readonly<Record<string, ParameterValue>>;

export interface SpaceParameter {
  path: string;
  domain: Domain;
  /** Null for a parameter that always takes part. */
  when: Condition | null;
}

/** The parameters in an order in which parents come before the parameters that depend on them. */
export type Space = readonly SpaceParameter[];

/** A valid space in the form that samplers use. The order of the keys decides which random numbers a parameter gets. */
export function orderSpace(parameters: SearchSpace): Space {
  const depth = (parameter: Parameter): number =>
    parameter.when === undefined ? 0 : 1 + depth(parameters[parameter.when.path]);
  return Object.entries(parameters)
    .toSorted(([, left], [, right]) => depth(left) - depth(right))
    .map(([path, parameter]) => ({ path, domain: domainOf(parameter), when: parameter.when ?? null }));
}

/** Whether a parameter takes part beside the values of its parents. */
export function takesPart({ when }: SpaceParameter, values: Assignment): boolean {
  return when === null || (Object.hasOwn(values, when.path) && when.equals.includes(values[when.path]));
}

/**
 * An assignment to which `choose` contributes each parameter's value; parameters whose condition does not hold are left
 * out.
 */
export function assign(space: Space, choose: (parameter: SpaceParameter, index: number) => ParameterValue): Assignment {
  const values: Record<string, ParameterValue> = {};
  for (const [index, parameter] of space.entries()) {
    if (takesPart(parameter, values)) values[parameter.path] = choose(parameter, index);
  }
  return values;
}

/**
 * Checks values that someone enqueues.
 * @throws Error with the path, the value, the rule and the remedy
 */
export function checkAssignment(space: Space, values: Assignment): void {
  const unknown = Object.keys(values).find((path) => !space.some((parameter) => parameter.path === path));
  if (unknown !== undefined) {
    const paths = space.map(({ path }) => path).join(', ');
    throw new Error(`${unknown} is no parameter of this study. Its parameters are ${paths}.`);
  }
  for (const parameter of space) {
    const problem = explainValue(parameter, values);
    if (problem !== null) throw new Error(problem);
  }
}

function explainValue(parameter: SpaceParameter, values: Assignment): string | null {
  const { path, domain, when } = parameter;
  const given = Object.hasOwn(values, path);
  if (!takesPart(parameter, values)) {
    if (!given || when === null) return null;
    return (
      `${path} takes part only while ${when.path} is ${when.equals.join(' or ')}: leave it out, or change ` +
      `${when.path}.`
    );
  }
  if (!given) return `${path} is missing: give it ${describeDomain(domain)}.`;
  if (holdsValue(domain, values[path])) return null;
  return `${path} is ${JSON.stringify(values[path])}, but must be ${describeDomain(domain)}.`;
}
