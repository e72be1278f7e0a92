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
