import type { PlainObject } from '../../../../core/options/index.ts';

/** A setting that is not the same in all of the compared runs, or changed within one. */
export interface ConfigDifference {
  path: string;
  /** For each run the values that it trained with, in their order; undefined where it had no such setting. */
  values: unknown[][];
}

/**
 * Settings that differ between runs, in the order in which they first come.
 * @param histories for each run the configurations that it trained with, one after the other
 */
export function configDifferences(histories: readonly (readonly PlainObject[])[]): ConfigDifference[] {
  const flat = histories.map((history) => history.map((config) => new Map(leavesOf(config, ''))));
  const paths = new Set(flat.flat().flatMap((leaves) => [...leaves.keys()]));
  return [...paths]
    .map((path) => ({ path, values: flat.map((history) => withoutRepeats(history.map((leaves) => leaves.get(path)))) }))
    .filter(({ values }) => values.some(({ length }) => length > 1) || new Set(values.map(spell)).size > 1);
}

/** `0.1 → 0.01` where a run changed it. */
export function spellHistory(values: readonly unknown[]): string {
  return values
    .map((value) => (value === undefined ? '-' : typeof value === 'string' ? value : spell(value)))
    .join(' → ');
}

function withoutRepeats(values: readonly unknown[]): unknown[] {
  return values.filter((value, index) => index === 0 || spell(value) !== spell(values[index - 1]));
}

function spell(value: unknown): string {
  return JSON.stringify(value) ?? '-';
}

function leavesOf(object: object, prefix: string): [string, unknown][] {
  return Object.entries(object).flatMap(([key, value]: [string, unknown]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    const isBranch = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isBranch ? leavesOf(value, path) : [[path, value] as [string, unknown]];
  });
}
