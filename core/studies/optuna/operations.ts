import { z } from 'zod';
import type { Direction, Trial } from '../trial.ts';

/** Optuna's numbers of the states of a trial. `waiting` trials are enqueued. */
const stateNumbers = { running: 0, complete: 1, pruned: 2, failed: 3, waiting: 4 } as const;
export const stateNames = ['running', 'complete', 'pruned', 'failed', 'waiting'] as const;
export const directionNumbers: Record<Direction, number> = { minimize: 1, maximize: 2 };

/** Optuna has no paused trials: they run. */
export function stateNumber(state: Trial['state']): number {
  return stateNumbers[state === 'paused' ? 'running' : state];
}

const number = z.union([z.number(), z.enum(['NaN', 'Infinity', '-Infinity']).transform(Number)]);
const id = z.int().min(0);
const state = z.int().min(0).max(4);
/** A distribution is JSON inside of a text. */
const distribution = z.string();

const createStudy = z.object({
  op_code: z.literal(0),
  study_name: z.string(),
  directions: z.array(z.int().min(1).max(2)).min(1),
});
const deleteStudy = z.object({ op_code: z.literal(1), study_id: id });
const createTrial = z.object({
  op_code: z.literal(4),
  study_id: id,
  state: state.default(0),
  distributions: z.record(z.string(), distribution).default({}),
  params: z.record(z.string(), number).default({}),
  value: number.nullish(),
  values: z.array(number).nullish(),
  intermediate_values: z.record(z.string(), number).default({}),
  system_attrs: z.record(z.string(), z.unknown()).default({}),
});
const setParameter = z.object({
  op_code: z.literal(5),
  trial_id: id,
  param_name: z.string(),
  param_value_internal: number,
  distribution,
});
const setState = z.object({ op_code: z.literal(6), trial_id: id, state, values: z.array(number).nullish() });
const report = z.object({ op_code: z.literal(7), trial_id: id, step: z.int().min(0), intermediate_value: number });
/** Attributes of studies and trials, and trials that another program discards: nothing that we keep. */
const other = z.object({ op_code: z.literal([2, 3, 8, 9, 10]) });

/** A line of a journal. */
export const operationSchema = z.discriminatedUnion('op_code', [
  createStudy,
  deleteStudy,
  createTrial,
  setParameter,
  setState,
  report,
  other,
]);
export type Operation = z.infer<typeof operationSchema>;
export type CreateTrial = z.infer<typeof createTrial>;

/** A string, or one of the numbers that Python writes although JSON has none. */
const tokens = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;

/**
 * Reads JSON as Python writes it; NaN and infinities become the texts 'NaN', 'Infinity' and '-Infinity'.
 * @throws SyntaxError when it is no JSON
 */
export function parsePythonJson(text: string): unknown {
  return JSON.parse(text.replace(tokens, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}

/** Writes JSON as Python does, with NaN and infinities as bare words. */
export function toPythonJson(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `[${value.map(toPythonJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${toPythonJson(member)}`)
    .join(', ')}}`;
}
