import { z } from 'zod';

/** A value that a study may try for a parameter. */
export const parameterValueSchema = z.union([z.number(), z.string(), z.boolean()]);
export type ParameterValue = z.infer<typeof parameterValueSchema>;

/** The parameter takes part only while the parameter at `path` has one of the values `equals`. */
const conditionSchema = z.strictObject({
  path: z.string().min(1),
  equals: z.array(parameterValueSchema).min(1, 'name at least one value of the parent'),
});
export type Condition = z.infer<typeof conditionSchema>;

const condition = { when: conditionSchema.optional() };
const numbers = { low: z.number(), high: z.number(), ...condition };
const integers = { low: z.int(), high: z.int(), ...condition };

/**
 * What a study may try for one option. `float`: any number from `low` to `high`; `log`: the same, drawn evenly on a
 * logarithmic scale; `int`: whole numbers, or every `step`th one; `log-int`: whole numbers on a logarithmic scale;
 * `step`: low, low + step, ... up to high; `choice`: one of the values.
 */
export const parameterSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('float'), ...numbers }),
  z.strictObject({ kind: z.literal('log'), ...numbers }),
  z.strictObject({ kind: z.literal('int'), ...integers, step: z.int().optional() }),
  z.strictObject({ kind: z.literal('log-int'), ...integers }),
  z.strictObject({ kind: z.literal('step'), ...numbers, step: z.number() }),
  z.strictObject({
    kind: z.literal('choice'),
    choices: z.array(parameterValueSchema).min(1, 'name at least one value'),
    ...condition,
  }),
]);
export type Parameter = z.infer<typeof parameterSchema>;

/**
 * Numbers from `low` to `high`, on a logarithmic scale or in steps from `low`, both of which whole numbers may have.
 */
export interface NumericDomain {
  kind: 'numeric';
  low: number;
  /** The largest value that the steps reach. */
  high: number;
  log: boolean;
  /** Null for any number between the bounds. */
  step: number | null;
}

export interface ChoiceDomain {
  kind: 'choice';
  choices: readonly ParameterValue[];
}

/** The values of a parameter, without its condition. */
export type Domain = NumericDomain | ChoiceDomain;

export function domainOf(parameter: Parameter): Domain {
  if (parameter.kind === 'choice') return { kind: 'choice', choices: parameter.choices };
  const { kind, low } = parameter;
  const log = kind === 'log' || kind === 'log-int';
  const step = kind === 'float' || kind === 'log' ? null : (('step' in parameter ? parameter.step : undefined) ?? 1);
  const high = step === null ? parameter.high : clean(low + step * countSteps(low, parameter.high, step));
  return { kind: 'numeric', low, high, log, step };
}

/** Steps from low to high, where 0.3 counts as three steps of 0.1 although 0.3 / 0.1 < 3 in binary. */
function countSteps(low: number, high: number, step: number): number {
  const steps = (high - low) / step;
  return Math.abs(steps - Math.round(steps)) < 1e-8 ? Math.round(steps) : Math.floor(steps);
}

/** How many values the domain has; null for a continuous one. */
export function levelsOf(domain: Domain): number | null {
  if (domain.kind === 'choice') return domain.choices.length;
  return domain.step === null ? null : Math.round((domain.high - domain.low) / domain.step) + 1;
}

/** The value of the level `index`, counted from 0. */
export function valueOfLevel(domain: Domain, index: number): ParameterValue {
  return domain.kind === 'choice' ? domain.choices[index] : clean(domain.low + index * (domain.step ?? 0));
}

/** The level of a value of a domain in steps or choices. */
export function levelOf(domain: Domain, value: ParameterValue): number {
  if (domain.kind === 'choice') return domain.choices.indexOf(value);
  return Math.round((Number(value) - domain.low) / (domain.step ?? 1));
}

/** Whether a value belongs to the domain. */
export function holdsValue(domain: Domain, value: unknown): boolean {
  if (domain.kind === 'choice') return domain.choices.some((choice) => choice === value);
  if (typeof value !== 'number' || !(value >= domain.low && value <= domain.high)) return false;
  if (domain.step === null) return true;
  const steps = (value - domain.low) / domain.step;
  return Math.abs(steps - Math.round(steps)) < 1e-8;
}

/**
 * The interval of the scale on which samplers work: the logarithm where the domain asks for it. Steps have half a step
 * on either side, so that each value's interval is equally wide (on a linear scale).
 */
export function scaleBounds({ low, high, log, step }: NumericDomain): { low: number; high: number } {
  const margin = (step ?? 0) / 2;
  return log
    ? { low: Math.log(low - margin), high: Math.log(high + margin) }
    : { low: low - margin, high: high + margin };
}

/** The domain's value that is nearest to a place on its scale ({@link scaleBounds}). */
export function valueOnScale(domain: NumericDomain, place: number): number {
  const { low, high, log, step } = domain;
  const value = log ? Math.exp(place) : place;
  const stepped = step === null ? value : clean(low + Math.round((value - low) / step) * step);
  return Math.min(Math.max(stepped, low), high);
}

/** A value's coordinate in [0, 1]: even shares for choices and linear steps. */
export function toUnit(domain: Domain, value: ParameterValue): number {
  if (domain.kind === 'choice') return (levelOf(domain, value) + 0.5) / domain.choices.length;
  const { low, high } = scaleBounds(domain);
  const place = domain.log ? Math.log(Number(value)) : Number(value);
  return (place - low) / (high - low);
}

/** The value of a coordinate in [0, 1]; the inverse of {@link toUnit}. */
export function fromUnit(domain: Domain, unit: number): ParameterValue {
  if (domain.kind === 'choice') {
    const { choices } = domain;
    return choices[Math.min(Math.floor(unit * choices.length), choices.length - 1)];
  }
  const { low, high } = scaleBounds(domain);
  return valueOnScale(domain, low + unit * (high - low));
}

/** Removes the rounding error of sums of steps: 0.30000000000000004 becomes 0.3. */
function clean(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(12));
}

/** The domain as words after "must be": `a number from 0.1 to 1`, `one of relu, tanh`. */
export function describeDomain(domain: Domain): string {
  if (domain.kind === 'choice') return `one of ${domain.choices.join(', ')}`;
  const { low, high, step } = domain;
  if (step === null) return `a number from ${low} to ${high}`;
  if (step === 1 && Number.isInteger(low)) return `a whole number from ${low} to ${high}`;
  return `a number from ${low} to ${high} in steps of ${step}`;
}
