import { at, multiplyAdd, multiplyAddOne } from '../arithmetic';

/**
 * Adam and AdamW on `size` values: g ← g + penalty·θ; m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²;
 * θ ← keep·θ − rate·m / (√v + ε). The caller puts the bias corrections into `rate` and `epsilon`. The new
 * values go to addresses that may be those of the old ones.
 */
export function updateAdam(
  theta: usize,
  gradient: usize,
  mean: usize,
  square: usize,
  size: i32,
  beta1: f32,
  rest1: f32,
  beta2: f32,
  rest2: f32,
  rate: f32,
  epsilon: f32,
  keep: f32,
  penalty: f32,
  newTheta: usize,
  newMean: usize,
  newSquare: usize,
): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) {
    const old = v128.load(at(theta, i));
    const g = multiplyAdd(f32x4.splat(penalty), old, v128.load(at(gradient, i)));
    const m = multiplyAdd(f32x4.splat(rest1), g, f32x4.mul(f32x4.splat(beta1), v128.load(at(mean, i))));
    const scaled = f32x4.mul(f32x4.splat(rest2), f32x4.mul(g, g));
    const v = multiplyAdd(f32x4.splat(beta2), v128.load(at(square, i)), scaled);
    const change = f32x4.div(f32x4.mul(f32x4.splat(rate), m), f32x4.add(f32x4.sqrt(v), f32x4.splat(epsilon)));
    v128.store(at(newMean, i), m);
    v128.store(at(newSquare, i), v);
    v128.store(at(newTheta, i), f32x4.sub(f32x4.mul(f32x4.splat(keep), old), change));
  }
  for (let i = whole; i < size; i++) {
    const old = load<f32>(at(theta, i));
    const g = multiplyAddOne(penalty, old, load<f32>(at(gradient, i)));
    const m = multiplyAddOne(rest1, g, beta1 * load<f32>(at(mean, i)));
    const v = multiplyAddOne(beta2, load<f32>(at(square, i)), rest2 * (g * g));
    store<f32>(at(newMean, i), m);
    store<f32>(at(newSquare, i), v);
    store<f32>(at(newTheta, i), keep * old - (rate * m) / (sqrt<f32>(v) + epsilon));
  }
}

/**
 * SGD on `size` values: g ← g + penalty·θ; v ← momentum·v + g; θ ← θ − rate·v, with Nesterov's momentum
 * θ ← θ − rate·(g + momentum·v), and without momentum (`velocity` 0) θ ← θ − rate·g. The new values
 * go to addresses that may be those of the old ones.
 */
export function updateSgd(
  theta: usize,
  gradient: usize,
  velocity: usize,
  size: i32,
  rate: f32,
  momentum: f32,
  penalty: f32,
  nesterov: bool,
  newTheta: usize,
  newVelocity: usize,
): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) {
    const old = v128.load(at(theta, i));
    let step = multiplyAdd(f32x4.splat(penalty), old, v128.load(at(gradient, i)));
    if (velocity != 0) {
      const v = multiplyAdd(f32x4.splat(momentum), v128.load(at(velocity, i)), step);
      v128.store(at(newVelocity, i), v);
      step = nesterov ? multiplyAdd(f32x4.splat(momentum), v, step) : v;
    }
    v128.store(at(newTheta, i), f32x4.sub(old, f32x4.mul(f32x4.splat(rate), step)));
  }
  for (let i = whole; i < size; i++) {
    const old = load<f32>(at(theta, i));
    let step = multiplyAddOne(penalty, old, load<f32>(at(gradient, i)));
    if (velocity != 0) {
      const v = multiplyAddOne(momentum, load<f32>(at(velocity, i)), step);
      store<f32>(at(newVelocity, i), v);
      step = nesterov ? multiplyAddOne(momentum, v, step) : v;
    }
    store<f32>(at(newTheta, i), old - rate * step);
  }
}
