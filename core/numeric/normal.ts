const halfRoot = Math.SQRT1_2;
const rootTwoPi = Math.sqrt(2 * Math.PI);
const rootHalfPi = Math.sqrt(Math.PI / 2);
const logRootTwoPi = Math.log(2 * Math.PI) / 2;
const inverseRootPi = 1 / Math.sqrt(Math.PI);

/** Density of the standard normal distribution: exp(-x²/2) / √(2π). */
export function normalDensity(value: number): number {
  return Math.exp(-(value ** 2) / 2) / rootTwoPi;
}

/**
 * Distribution function Φ of the standard normal distribution, to some 15 digits, also far in the lower tail:
 * erfc(-x/√2) / 2.
 */
export function normalDistribution(value: number): number {
  const size = Math.abs(value) * halfRoot;
  if (size <= smallErrorArgument) return 0.5 + (Math.sign(value) * errorFunctionNearZero(size)) / 2;
  const tail = (Math.exp(-size * size) * scaledTail(size)) / 2;
  return value > 0 ? 1 - tail : tail;
}

/** Φ(upper) - Φ(lower), taken from the tail in which both are small. */
export function massBetween(lower: number, upper: number): number {
  if (lower > 0) return normalDistribution(-lower) - normalDistribution(-upper);
  return normalDistribution(upper) - normalDistribution(lower);
}

/** ln Φ(x), which stays finite where Φ(x) underflows. */
export function logNormalDistribution(value: number): number {
  if (value > -1) return Math.log1p(-normalDistribution(-value));
  return -(value ** 2) / 2 + Math.log(scaledErfc(-value * halfRoot) / 2);
}

/**
 * The x with Φ(x) = `probability`, to some 15 digits; infinite at 0 and 1.
 *
 * Source: Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988, PPND16.
 */
export function normalQuantile(probability: number): number {
  const centred = probability - 0.5;
  if (Math.abs(centred) <= 0.425) return ratio(quantileCentre, 0.180625 - centred * centred) * centred;
  const tail = Math.min(probability, 1 - probability);
  if (tail <= 0) return tail < 0 ? NaN : Math.sign(centred) * Infinity;
  const depth = Math.sqrt(-Math.log(tail));
  return Math.sign(centred) * (depth <= 5 ? ratio(quantileTail, depth - 1.6) : ratio(quantileFarTail, depth - 5));
}

/**
 * ln E[max(0, x + Z)] for a standard normal Z: the logarithm of the expected improvement in units of the deviation.
 * Accurate also where the improvement itself underflows.
 *
 * Source: Ament et al., "Unexpected improvements to expected improvement for Bayesian optimization", NeurIPS 2023,
 * equation 9.
 */
export function logExpectedImprovement(x: number): number {
  if (x > -1) return Math.log(normalDensity(x) + x * normalDistribution(x));
  // 1 - √(π/2) |x| erfcx(|x|/√2) loses its digits far out, where its asymptotic series 1/x² - 3/x⁴ + 15/x⁶ - 105/x⁸ has
  // them.
  const inverse = 1 / (x * x);
  const share =
    x > -200 ? 1 + rootHalfPi * x * scaledErfc(-x * halfRoot) : inverse * (1 - 3 * inverse * (1 - 5 * inverse));
  return -(x * x) / 2 - logRootTwoPi + Math.log(share);
}

/** The derivative of {@link logExpectedImprovement}: Φ(x) / E[max(0, x + Z)]. */
export function logExpectedImprovementSlope(x: number): number {
  return Math.exp(logNormalDistribution(x) - logExpectedImprovement(x));
}

/** exp(x²) erfc(x) for x >= 0. */
function scaledErfc(x: number): number {
  return x <= smallErrorArgument ? Math.exp(x * x) * (1 - errorFunctionNearZero(x)) : scaledTail(x);
}

const smallErrorArgument = 0.46875;

/** erf(x) for 0 <= x <= 0.46875 (Cody, "Rational Chebyshev approximations for the error function", 1969). */
function errorFunctionNearZero(x: number): number {
  return x * ratio(errorNearZero, x * x);
}

/** exp(x²) erfc(x) for x > 0.46875 (Cody, 1969). */
function scaledTail(x: number): number {
  if (x <= 4) return ratio(errorMiddle, x);
  const inverse = 1 / (x * x);
  return (inverseRootPi - inverse * ratio(errorFar, inverse)) / x;
}

/** Coefficients of numerator and denominator, from the constant term upwards. */
type Rational = { above: readonly number[]; below: readonly number[] };

function ratio({ above, below }: Rational, x: number): number {
  return polynomial(above, x) / polynomial(below, x);
}

const errorNearZero: Rational = {
  above: [3209.3775891384694, 377.485237685302, 113.86415415105016, 3.1611237438705655, 0.18577770618460315],
  below: [2844.236833439171, 1282.6165260773723, 244.02463793444417, 23.601290952344122, 1],
};
const errorMiddle: Rational = {
  above: [
    1230.3393547979972, 2051.0783778260716, 1712.0476126340707, 881.952221241769, 298.6351381974001, 66.11919063714163,
    8.883149794388377, 0.5641884969886701, 2.1531153547440383e-8,
  ],
  below: [
    1230.3393548037495, 3439.3676741437216, 4362.619090143247, 3290.7992357334597, 1621.3895745666903,
    537.1811018620099, 117.6939508913125, 15.744926110709835, 1,
  ],
};
const errorFar: Rational = {
  above: [
    0.0006587491615298378, 0.016083785148742275, 0.12578172611122926, 0.36034489994980445, 0.30532663496123236,
    0.016315387137302097,
  ],
  below: [0.0023352049762686918, 0.06051834131244132, 0.5279051029514285, 1.8729528499234673, 2.568520192289822, 1],
};
const quantileCentre: Rational = {
  above: [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987, 67265.7709270087,
    33430.57558358813, 2509.0809287301227,
  ],
  below: [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852854,
  ],
};
const quantileTail: Rational = {
  above: [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  below: [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-9,
  ],
};
const quantileFarTail: Rational = {
  above: [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
    0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7,
  ],
  below: [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133, 1.8463183175100548e-5,
    1.421511758316446e-7, 2.0442631033899397e-15,
  ],
};

/** Σ cₖ xᵏ by Horner's rule, for coefficients from the constant term upwards. */
function polynomial(coefficients: readonly number[], x: number): number {
  let sum = 0;
  for (let index = coefficients.length - 1; index >= 0; index--) sum = sum * x + coefficients[index];
  return sum;
}
