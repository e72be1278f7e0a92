import { leavesOf, type PlainObject } from '../../../../core/options/index.ts';
import { unknownText } from '../../../../core/text/numbers.ts';

/** An option that differs between configurations, or within the history of one. */
export interface ConfigDifference {
  path: string;
  /** For each history the successive values; undefined where the option did not exist. */
  values: unknown[][];
}

/**
 * Options that differ between the configurations of runs or attempts, in the order of their first appearance.
 * @param histories for each run the configurations that it trained with, in order
 */
export function configDifferences(histories: readonly (readonly PlainObject[])[]): ConfigDifference[] {
  const flat = histories.map((history) => history.map((config) => new Map(leavesOf(config))));
  const paths = new Set(flat.flat().flatMap((leaves) => [...leaves.keys()]));
  return [...paths]
    .map((path) => ({ path, values: flat.map((history) => withoutRepeats(history.map((leaves) => leaves.get(path)))) }))
    .filter(({ values }) => values.some(({ length }) => length > 1) || new Set(values.map(keyOf)).size > 1);
}

/** `0.1 → 0.01` where the value changed. */
export function spellHistory(values: readonly unknown[]): string {
  return values.map(spellValue).join(' → ');
}

/** A value as the terminal takes it: `adam`, `true`, `[0,2]`; `–` for an option that is not set. */
export function spellValue(value: unknown): string {
  return typeof value === 'string' ? value : keyOf(value);
}

function withoutRepeats(values: readonly unknown[]): unknown[] {
  return values.filter((value, index) => index === 0 || keyOf(value) !== keyOf(values[index - 1]));
}

function keyOf(value: unknown): string {
  return JSON.stringify(value) ?? unknownText;
}
