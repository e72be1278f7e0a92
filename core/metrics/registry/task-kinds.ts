/** What a model can learn: the values of a project's `task`. */
export const taskKinds = [
  'classification',
  'binary',
  'ordinal',
  'multi-label',
  'regression',
  'heteroscedastic-regression',
  'poisson-regression',
  'quantile-regression',
] as const;
/** Levels of the quantiles where a project names none. */
export const usualQuantiles: readonly number[] = [0.05, 0.5, 0.95];
export type TaskKind = (typeof taskKinds)[number];

/** How many outputs of a model a task has. */
export function outputCount(kind: TaskKind): number {
  return kind === 'heteroscedastic-regression' ? 2 : 1;
}
