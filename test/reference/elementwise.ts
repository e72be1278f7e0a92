import { map, type Value, zip } from './value.ts';

export const add = (a: Value, b: Value): Value =>
  zip(
    a,
    b,
    (p, q) => p + q,
    () => 1,
    () => 1,
  );
export const subtract = (a: Value, b: Value): Value =>
  zip(
    a,
    b,
    (p, q) => p - q,
    () => 1,
    () => -1,
  );
export const multiply = (a: Value, b: Value): Value =>
  zip(
    a,
    b,
    (p, q) => p * q,
    (_, q) => q,
    (p) => p,
  );
export const divide = (a: Value, b: Value): Value =>
  zip(
    a,
    b,
    (p, q) => p / q,
    (_, q) => 1 / q,
    (p, q) => -p / (q * q),
  );
export const power = (a: Value, b: Value): Value =>
  zip(
    a,
    b,
    (p, q) => p ** q,
    (p, q) => q * p ** (q - 1),
    (p, q) => p ** q * Math.log(p),
  );
/** The first of equal values gets the gradient. */
export const maximum = (a: Value, b: Value): Value =>
  zip(
    a,
    b,
    (p, q) => Math.max(p, q),
    (p, q) => Number(p >= q),
    (p, q) => Number(p < q),
  );
export const minimum = (a: Value, b: Value): Value =>
  zip(
    a,
    b,
    (p, q) => Math.min(p, q),
    (p, q) => Number(p <= q),
    (p, q) => Number(p > q),
  );
/** 1 where the comparison holds, else 0; no gradient. */
export const compare = (a: Value, b: Value, holds: (p: number, q: number) => boolean): Value =>
  zip(
    a,
    b,
    (p, q) => Number(holds(p, q)),
    () => 0,
    () => 0,
  );

const logistic = (x: number): number => 1 / (1 + Math.exp(-x));
/** log(1 + e^x) without overflow. */
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/** Klambauer et al. (2017), "Self-normalizing neural networks", to double precision. */
const [seluAlpha, seluScale] = [1.6732632423543772, 1.0507009873554805];

/**
 * erf by its series for small x, and by the continued fraction of erfc for large ones (Abramowitz and Stegun, 7.1.6 and
 * 7.1.14).
 */
export function erf(x: number): number {
  if (x < 0) return -erf(-x);
  if (x > 3) {
    let fraction = 0;
    for (let k = 60; k >= 1; k--) fraction = k / 2 / (x + fraction);
    return 1 - Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
  }
  let [term, sum] = [x, x];
  for (let k = 1; k < 80; k++) sum += term *= (2 * x * x) / (2 * k + 1);
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

type Function = [f: (x: number) => number, derivative: (x: number) => number];

const normalDensity = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
const normalDistribution = (x: number): number => (1 + erf(x * Math.SQRT1_2)) / 2;

/** Functions of one number with their derivatives. At kinks the derivative is PyTorch's. */
export const functions = {
  linear: [(x) => x, () => 1],
  relu: [(x) => (x > 0 || Number.isNaN(x) ? x : 0), (x) => Number(x > 0)],
  relu6: [(x) => Math.min(Math.max(x, 0), 6), (x) => Number(x > 0 && x < 6)],
  selu: [
    (x) => seluScale * (x > 0 ? x : seluAlpha * Math.expm1(x)),
    (x) => seluScale * (x > 0 ? 1 : seluAlpha * Math.exp(x)),
  ],
  sigmoid: [logistic, (x) => logistic(x) * logistic(-x)],
  /** As Keras 2 defines it: max(0, min(1, 0.2 x + 0.5)). */
  hardSigmoid: [(x) => Math.max(0, Math.min(1, 0.2 * x + 0.5)), (x) => (Math.abs(x) < 2.5 ? 0.2 : 0)],
  logSigmoid: [(x) => -softplus(-x), (x) => logistic(-x)],
  tanh: [Math.tanh, (x) => 1 / Math.cosh(x) ** 2],
  softplus: [softplus, logistic],
  softsign: [(x) => x / (1 + Math.abs(x)), (x) => 1 / (1 + Math.abs(x)) ** 2],
  swish: [(x) => x * logistic(x), (x) => logistic(x) + x * logistic(x) * logistic(-x)],
  mish: [
    (x) => x * Math.tanh(softplus(x)),
    (x) => Math.tanh(softplus(x)) + (x * logistic(x)) / Math.cosh(softplus(x)) ** 2,
  ],
  gelu: [(x) => x * normalDistribution(x), (x) => normalDistribution(x) + x * normalDensity(x)],
  erf: [erf, (x) => (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x)],
  exp: [Math.exp, Math.exp],
  expm1: [Math.expm1, Math.exp],
  log: [Math.log, (x) => 1 / x],
  log1p: [Math.log1p, (x) => 1 / (1 + x)],
  sqrt: [Math.sqrt, (x) => 0.5 / Math.sqrt(x)],
  rsqrt: [(x) => 1 / Math.sqrt(x), (x) => -0.5 * x ** -1.5],
  reciprocal: [(x) => 1 / x, (x) => -1 / (x * x)],
  square: [(x) => x * x, (x) => 2 * x],
  abs: [Math.abs, Math.sign],
  neg: [(x) => -x, () => -1],
  sin: [Math.sin, Math.cos],
  cos: [Math.cos, (x) => -Math.sin(x)],
  step: [(x) => Number(x > 0), () => 0],
} as const satisfies Record<string, Function>;

export type FunctionName = keyof typeof functions;

export function apply(name: FunctionName, x: Value): Value {
  const [f, derivative] = functions[name] as Function;
  return map(x, f, derivative);
}

/** x, or α (e^x − 1) below 0. */
export const elu = (x: Value, alpha = 1): Value =>
  map(
    x,
    (v) => (v > 0 ? v : alpha * Math.expm1(v)),
    (v) => (v > 0 ? 1 : alpha * Math.exp(v)),
  );
export const leakyRelu = (x: Value, alpha: number): Value =>
  map(
    x,
    (v) => (v > 0 ? v : alpha * v),
    (v) => (v > 0 ? 1 : alpha),
  );
/** x above θ, else 0. */
export const thresholdedRelu = (x: Value, theta: number): Value =>
  map(
    x,
    (v) => (v > theta ? v : 0),
    (v) => Number(v > theta),
  );
/** x, or slope · x below 0, with a slope that broadcasts. */
export const prelu = (x: Value, slope: Value): Value =>
  zip(
    x,
    slope,
    (v, s) => (v > 0 ? v : s * v),
    (v, s) => (v > 0 ? 1 : s),
    (v) => (v > 0 ? 0 : v),
  );
/** x clamped to [low, high]. */
export const clip = (x: Value, low: number, high: number): Value =>
  map(
    x,
    (v) => Math.min(Math.max(v, low), high),
    (v) => Number(v >= low && v <= high),
  );
/** x · factor + offset. */
export const affine = (x: Value, factor: number, offset = 0): Value =>
  map(
    x,
    (v) => v * factor + offset,
    () => factor,
  );
