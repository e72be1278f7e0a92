import { z } from 'zod';
import type { Domain, Parameter, ParameterValue } from '../space/domain.ts';

const range = { low: z.number(), high: z.number(), log: z.boolean().default(false) };

/** Optuna's distributions, as its journals hold them. */
export const distributionSchema = z.discriminatedUnion('name', [
  z.object({
    name: z.literal('FloatDistribution'),
    attributes: z.object({ ...range, step: z.number().nullable().default(null) }),
  }),
  z.object({ name: z.literal('IntDistribution'), attributes: z.object({ ...range, step: z.int().default(1) }) }),
  z.object({
    name: z.literal('CategoricalDistribution'),
    attributes: z.object({ choices: z.array(z.union([z.number(), z.string(), z.boolean(), z.null()])).min(1) }),
  }),
]);
export type Distribution = z.infer<typeof distributionSchema>;

/** The parameter of a distribution. A choice of `None` becomes the text "None". */
export function parameterOf(distribution: Distribution): Parameter {
  if (distribution.name === 'CategoricalDistribution')
    return { kind: 'choice', choices: choicesOf(distribution.attributes.choices) };
  const { low, high, log, step } = distribution.attributes;
  if (distribution.name === 'IntDistribution') {
    if (log) return { kind: 'log-int', low, high };
    return { kind: 'int', low, high, ...(step !== null && step !== 1 && { step }) };
  }
  if (step !== null) return { kind: 'step', low, high, step };
  return { kind: log ? 'log' : 'float', low, high };
}

/**
 * The value of Optuna's internal number: the index of a choice, otherwise the number itself. Undefined for an index
 * without a choice.
 */
export function valueOf(distribution: Distribution, internal: number): ParameterValue | undefined {
  if (distribution.name !== 'CategoricalDistribution') return internal;
  return choicesOf(distribution.attributes.choices)[internal];
}

function choicesOf(choices: readonly (ParameterValue | null)[]): ParameterValue[] {
  return choices.map((choice) => choice ?? 'None');
}

/** The distribution of a domain. Choices in Optuna may have all of our types. */
export function distributionOf(domain: Domain): Distribution {
  if (domain.kind === 'choice')
    return { name: 'CategoricalDistribution', attributes: { choices: [...domain.choices] } };
  const { low, high, log, step } = domain;
  if (step !== null && [low, high, step].every(Number.isInteger)) {
    return { name: 'IntDistribution', attributes: { log, step, low, high } };
  }
  return { name: 'FloatDistribution', attributes: { step, low, high, log } };
}

/** Optuna's internal number of a value. */
export function internalOf(domain: Domain, value: ParameterValue): number {
  return domain.kind === 'choice' ? domain.choices.indexOf(value) : Number(value);
}
