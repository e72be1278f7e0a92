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
export type TaskKind = (typeof taskKinds)[number];
