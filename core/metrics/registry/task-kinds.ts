/** What a model can learn: the values of a project's `task`. */
export const taskKinds = ['classification', 'binary', 'regression', 'heteroscedastic-regression'] as const;
export type TaskKind = (typeof taskKinds)[number];
