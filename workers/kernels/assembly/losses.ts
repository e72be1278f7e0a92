import { at } from './arithmetic';
import { exponential, logarithm } from './elementwise/elementary';

/** The largest of `size` values; NaN if any value is NaN. */
function largest(row: usize, size: i32): f32 {
  let most: f32 = -Infinity;
  for (let i = 0; i < size; i++) most = max(most, load<f32>(at(row, i)));
  return most;
}

/** Σ exp(z − shift) of a row, in order. Stores the terms at an address, unless it is 0. */
function sumExponentials(row: usize, size: i32, shift: f32, kept: usize): f64 {
  const whole = size & ~3;
  let sum: f64 = 0;
  for (let i = 0; i < whole; i += 4) {
    const terms = exponential(f32x4.sub(v128.load(at(row, i)), f32x4.splat(shift)));
    if (kept != 0) v128.store(at(kept, i), terms);
    sum += <f64>f32x4.extract_lane(terms, 0);
    sum += <f64>f32x4.extract_lane(terms, 1);
    sum += <f64>f32x4.extract_lane(terms, 2);
    sum += <f64>f32x4.extract_lane(terms, 3);
  }
  for (let i = whole; i < size; i++) {
    const term = f32x4.extract_lane(exponential(f32x4.splat(load<f32>(at(row, i)) - shift)), 0);
    if (kept != 0) store<f32>(at(kept, i), term);
    sum += <f64>term;
  }
  return sum;
}

/**
 * Mean over rows of logsumexp(z) − z[label], for logits `rows x classes` and int32 labels. A label out of range adds
 * nothing.
 */
export function crossEntropy(logits: usize, labels: usize, rows: i32, classes: i32, loss: usize): void {
  let total: f64 = 0;
  for (let i = 0; i < rows; i++) {
    const row = at(logits, i * classes);
    const label = load<i32>(at(labels, i));
    if (label < 0 || label >= classes) continue;
    const shift = largest(row, classes);
    const logSum = <f64>shift + logarithm(sumExponentials(row, classes, shift, 0));
    total += logSum - <f64>load<f32>(at(row, label));
  }
  store<f32>(loss, <f32>(total / <f64>rows));
}

/**
 * The gradient of `crossEntropy` with respect to the logits: (softmax(z) − onehot(label)) / rows, times the loss's
 * gradient at `slope`.
 */
export function crossEntropyGradient(
  logits: usize,
  labels: usize,
  rows: i32,
  classes: i32,
  slope: usize,
  gradient: usize,
): void {
  const scale = load<f32>(slope) / <f32>rows;
  for (let i = 0; i < rows; i++) {
    const row = at(logits, i * classes);
    const target = at(gradient, i * classes);
    const label = load<i32>(at(labels, i));
    const factor: f32 = label < 0 || label >= classes ? 0 : scale;
    const shift = largest(row, classes);
    const sum = sumExponentials(row, classes, shift, target);
    for (let j = 0; j < classes; j++) {
      const probability = <f64>load<f32>(at(target, j)) / sum;
      store<f32>(at(target, j), factor * <f32>(probability - (j == label ? 1 : 0)));
    }
  }
}

/** Mean of log σ² + (y − μ)²/σ². */
export function gaussianNll(mean: usize, variance: usize, target: usize, size: i32, loss: usize): void {
  let total: f64 = 0;
  for (let i = 0; i < size; i++) {
    const spread = <f64>load<f32>(at(variance, i));
    const error = <f64>load<f32>(at(target, i)) - <f64>load<f32>(at(mean, i));
    total += logarithm(spread) + (error * error) / spread;
  }
  store<f32>(loss, <f32>(total / <f64>size));
}

/**
 * The gradients of `gaussianNll`, −2(y − μ)/σ² / size for the mean, (1 − (y − μ)²/σ²)/σ² / size for the variance, times
 * the loss's gradient at `slope`.
 */
export function gaussianNllGradient(
  mean: usize,
  variance: usize,
  target: usize,
  size: i32,
  slope: usize,
  ofVariance: bool,
  gradient: usize,
): void {
  const scale = <f64>load<f32>(slope) / <f64>size;
  for (let i = 0; i < size; i++) {
    const spread = <f64>load<f32>(at(variance, i));
    const error = <f64>load<f32>(at(target, i)) - <f64>load<f32>(at(mean, i));
    const own = ofVariance ? (1 - (error * error) / spread) / spread : (-2 * error) / spread;
    store<f32>(at(gradient, i), <f32>(scale * own));
  }
}
