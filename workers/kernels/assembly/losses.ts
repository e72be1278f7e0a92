import { at } from './arithmetic';
import { exponential, logarithm } from './elementary';

/** The largest of `size` values; NaN if one is. */
function largest(row: usize, size: i32): f32 {
  let most: f32 = -Infinity;
  for (let i = 0; i < size; i++) most = max(most, load<f32>(at(row, i)));
  return most;
}

/** Σ exp(z − shift) of a row, in order. */
function sumExponentials(row: usize, size: i32, shift: f32): f64 {
  let sum: f64 = 0;
  for (let i = 0; i < size; i++) sum += lane(exponential(f32x4.splat(load<f32>(at(row, i)) - shift)));
  return sum;
}

function lane(x: v128): f64 {
  return <f64>f32x4.extract_lane(x, 0);
}

/** Mean over rows of logsumexp(z) − z[label], of logits `rows x classes` and int32 labels. A label beyond the classes adds nothing. */
export function crossEntropy(logits: usize, labels: usize, rows: i32, classes: i32, loss: usize): void {
  let total: f64 = 0;
  for (let i = 0; i < rows; i++) {
    const row = at(logits, i * classes);
    const label = load<i32>(at(labels, i));
    if (label < 0 || label >= classes) continue;
    const shift = largest(row, classes);
    const logSum = <f64>shift + logarithm(sumExponentials(row, classes, shift));
    total += logSum - <f64>load<f32>(at(row, label));
  }
  store<f32>(loss, <f32>(total / <f64>rows));
}

/** Its gradient for the logits, (softmax(z) − onehot(label)) / rows, times the loss's own gradient at `slope`. */
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
    const sum = sumExponentials(row, classes, shift);
    for (let j = 0; j < classes; j++) {
      const probability = lane(exponential(f32x4.splat(load<f32>(at(row, j)) - shift))) / sum;
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

/** Its gradients, times the loss's own at `slope`: −2(y − μ)/σ² / size for the mean, (1 − (y − μ)²/σ²)/σ² / size for the variance. */
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
