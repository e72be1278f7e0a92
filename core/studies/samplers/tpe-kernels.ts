import type { ParameterValue } from '../space/parameter.ts';

/** The distributions of one parameter around the values of trials, and the prior's behind them: one kernel each. */
export interface Kernels<Value extends ParameterValue> {
  /** A value of a kernel's distribution. @param uniform in [0, 1) */
  sample(kernel: number, uniform: number): Value;
  /** Adds to each kernel's log density what does not depend on the value. */
  addConstants(logDensities: Float64Array): void;
  /** Adds to each kernel's log density what depends on the value. */
  addLogDensities(value: Value, logDensities: Float64Array): void;
}

/** Σ over x of exp, as a logarithm; -Infinity where all are. */
export function logSumExp(values: Float64Array): number {
  let most = -Infinity;
  for (let index = 0; index < values.length; index++) if (values[index] > most) most = values[index];
  if (most === -Infinity) return most;
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += Math.exp(values[index] - most);
  return most + Math.log(sum);
}
