import { at, multiplyAdd, multiplyAddOne } from '../arithmetic';

/**
 * RMSprop on `size` values: g ← g + penalty·θ; s ← ρs + (1 − ρ)g²; d = √s, or √(s − a²) with a ← ρa + (1 − ρ)g (`mean`
 * not 0); x = g / (d + ε), or with momentum (`velocity` not 0) v ← momentum·v + x and x = v; θ ← θ − rate·x. The new
 * values go to addresses that may be those of the old ones.
 */
export function updateRmsprop(
  gradient: usize,
  theta: usize,
  square: usize,
  velocity: usize,
  mean: usize,
  size: i32,
  rho: f32,
  rest: f32,
  rate: f32,
  epsilon: f32,
  momentum: f32,
  penalty: f32,
  newTheta: usize,
  newSquare: usize,
  newVelocity: usize,
  newMean: usize,
): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) {
    const old = v128.load(at(theta, i));
    const g = multiplyAdd(f32x4.splat(penalty), old, v128.load(at(gradient, i)));
    const kept = f32x4.mul(f32x4.splat(rho), v128.load(at(square, i)));
    const s = multiplyAdd(f32x4.splat(rest), f32x4.mul(g, g), kept);
    v128.store(at(newSquare, i), s);
    const d = f32x4.sqrt(mean == 0 ? s : varianceOfLanes(s, g, at(mean, i), rho, rest, at(newMean, i)));
    let x = f32x4.div(g, f32x4.add(d, f32x4.splat(epsilon)));
    if (velocity != 0) x = accelerate(at(velocity, i), momentum, x, at(newVelocity, i));
    v128.store(at(newTheta, i), f32x4.sub(old, f32x4.mul(f32x4.splat(rate), x)));
  }
  for (let i = whole; i < size; i++) {
    const old = load<f32>(at(theta, i));
    const g = multiplyAddOne(penalty, old, load<f32>(at(gradient, i)));
    const s = multiplyAddOne(rest, g * g, rho * load<f32>(at(square, i)));
    store<f32>(at(newSquare, i), s);
    let x = g / (sqrt<f32>(mean == 0 ? s : varianceOf(s, g, at(mean, i), rho, rest, at(newMean, i))) + epsilon);
    if (velocity != 0) store<f32>(at(newVelocity, i), (x = multiplyAddOne(momentum, load<f32>(at(velocity, i)), x)));
    store<f32>(at(newTheta, i), old - rate * x);
  }
}

/** a ← ρa + (1 − ρ)g at the address `mean`; returns s − a². */
function varianceOfLanes(s: v128, g: v128, mean: usize, rho: f32, rest: f32, newMean: usize): v128 {
  const a = multiplyAdd(f32x4.splat(rest), g, f32x4.mul(f32x4.splat(rho), v128.load(mean)));
  v128.store(newMean, a);
  return f32x4.max(f32x4.sub(s, f32x4.mul(a, a)), f32x4.splat(0));
}

/** v ← momentum·v + x at the address `velocity`; returns v. */
function accelerate(velocity: usize, momentum: f32, x: v128, newVelocity: usize): v128 {
  const v = multiplyAdd(f32x4.splat(momentum), v128.load(velocity), x);
  v128.store(newVelocity, v);
  return v;
}

/** The variance of one value, like {@link varianceOfLanes}. */
function varianceOf(s: f32, g: f32, mean: usize, rho: f32, rest: f32, newMean: usize): f32 {
  const a = multiplyAddOne(rest, g, rho * load<f32>(mean));
  store<f32>(newMean, a);
  return max<f32>(s - a * a, 0);
}

/**
 * Lion on `size` values: c = β₁m + (1 − β₁)g; θ ← keep·θ − rate·sign(c); m ← β₂m + (1 − β₂)g. Where c is not finite, θ
 * becomes NaN. The products are rounded before they are added in every build: a fused multiply-add would leave a
 * remainder where they cancel, and so give 0 a sign. The new values go to addresses that may be those of the old ones.
 */
export function updateLion(
  theta: usize,
  gradient: usize,
  mean: usize,
  size: i32,
  beta1: f32,
  rest1: f32,
  beta2: f32,
  rest2: f32,
  rate: f32,
  keep: f32,
  newTheta: usize,
  newMean: usize,
): void {
  const whole = size & ~3;
  const zero = f32x4.splat(0);
  for (let i = 0; i < whole; i += 4) {
    const g = v128.load(at(gradient, i));
    const m = v128.load(at(mean, i));
    const c = f32x4.add(f32x4.mul(f32x4.splat(beta1), m), f32x4.mul(f32x4.splat(rest1), g));
    const up = v128.and(f32x4.gt(c, zero), f32x4.splat(1));
    const sign = v128.or(up, v128.and(f32x4.lt(c, zero), f32x4.splat(-1)));
    const direction = f32x4.add(sign, f32x4.sub(c, c));
    const kept = f32x4.mul(f32x4.splat(keep), v128.load(at(theta, i)));
    const held = f32x4.mul(f32x4.splat(beta2), m);
    v128.store(at(newMean, i), f32x4.add(held, f32x4.mul(f32x4.splat(rest2), g)));
    v128.store(at(newTheta, i), f32x4.sub(kept, f32x4.mul(f32x4.splat(rate), direction)));
  }
  for (let i = whole; i < size; i++) {
    const g = load<f32>(at(gradient, i));
    const m = load<f32>(at(mean, i));
    const c = beta1 * m + rest1 * g;
    const sign: f32 = c > 0 ? 1 : c < 0 ? -1 : 0;
    const direction: f32 = sign + (c - c);
    const kept = keep * load<f32>(at(theta, i));
    store<f32>(at(newMean, i), beta2 * m + rest2 * g);
    store<f32>(at(newTheta, i), kept - rate * direction);
  }
}

/**
 * The direction of LAMB's update of `size` values: m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; u = scale·m / (√v + ε) +
 * decay·θ. The caller puts the bias corrections into `scale` and `epsilon`. New slots go to addresses that may be those
 * of the old ones.
 */
export function directLamb(
  theta: usize,
  gradient: usize,
  mean: usize,
  square: usize,
  size: i32,
  beta1: f32,
  rest1: f32,
  beta2: f32,
  rest2: f32,
  scale: f32,
  epsilon: f32,
  decay: f32,
  direction: usize,
  newMean: usize,
  newSquare: usize,
): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) {
    const g = v128.load(at(gradient, i));
    const m = multiplyAdd(f32x4.splat(rest1), g, f32x4.mul(f32x4.splat(beta1), v128.load(at(mean, i))));
    const scaled = f32x4.mul(f32x4.splat(rest2), f32x4.mul(g, g));
    const v = multiplyAdd(f32x4.splat(beta2), v128.load(at(square, i)), scaled);
    const adapted = f32x4.div(f32x4.mul(f32x4.splat(scale), m), f32x4.add(f32x4.sqrt(v), f32x4.splat(epsilon)));
    v128.store(at(newMean, i), m);
    v128.store(at(newSquare, i), v);
    v128.store(at(direction, i), multiplyAdd(f32x4.splat(decay), v128.load(at(theta, i)), adapted));
  }
  for (let i = whole; i < size; i++) {
    const g = load<f32>(at(gradient, i));
    const m = multiplyAddOne(rest1, g, beta1 * load<f32>(at(mean, i)));
    const v = multiplyAddOne(beta2, load<f32>(at(square, i)), rest2 * (g * g));
    store<f32>(at(newMean, i), m);
    store<f32>(at(newSquare, i), v);
    const adapted = (scale * m) / (sqrt<f32>(v) + epsilon);
    store<f32>(at(direction, i), multiplyAddOne(decay, load<f32>(at(theta, i)), adapted));
  }
}
