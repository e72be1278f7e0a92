import type { PlainObject } from '../../../protocol/options.ts';

/** A setting that is not the same in all of the compared runs. */
export interface ConfigDifference {
  path: string;
  /** One value a run, in the order of the runs; undefined where the run has no such setting. */
  values: unknown[];
}

/** Settings that differ between configurations, in the order in which they first come. */
export function configDifferences(configs: readonly PlainObject[]): ConfigDifference[] {
  const flat = configs.map((config) => new Map(leavesOf(config, '')));
  const paths = new Set(flat.flatMap((leaves) => [...leaves.keys()]));
  return [...paths]
    .map((path) => ({ path, values: flat.map((leaves) => leaves.get(path)) }))
    .filter(({ values }) => new Set(values.map((value) => JSON.stringify(value))).size > 1);
}

function leavesOf(object: object, prefix: string): [string, unknown][] {
  return Object.entries(object).flatMap(([key, value]: [string, unknown]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    const isBranch = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isBranch ? leavesOf(value, path) : [[path, value] as [string, unknown]];
  });
}
