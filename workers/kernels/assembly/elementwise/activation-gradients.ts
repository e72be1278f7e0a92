import { at } from '../arithmetic';

/** dx ← 0 where x ≤ 0, else dy. Where x is NaN it is dy, as in PyTorch. */
export function gradientOfRelu(x: usize, dy: usize, size: i32, dx: usize): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) {
    const isFlat = f32x4.le(v128.load(at(x, i)), f32x4.splat(0));
    v128.store(at(dx, i), v128.andnot(v128.load(at(dy, i)), isFlat));
  }
  for (let i = whole; i < size; i++) store<f32>(at(dx, i), load<f32>(at(x, i)) <= 0 ? 0 : load<f32>(at(dy, i)));
}

/** dx ← dy · (y · (1 − y)) for y = σ(x) */
export function gradientOfSigmoid(y: usize, dy: usize, size: i32, dx: usize): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) {
    const value = v128.load(at(y, i));
    const slope = f32x4.mul(value, f32x4.sub(f32x4.splat(1), value));
    v128.store(at(dx, i), f32x4.mul(v128.load(at(dy, i)), slope));
  }
  for (let i = whole; i < size; i++) {
    const value = load<f32>(at(y, i));
    store<f32>(at(dx, i), load<f32>(at(dy, i)) * (value * (1 - value)));
  }
}

/** dx ← (1 − y²) · dy for y = tanh x */
export function gradientOfTanh(y: usize, dy: usize, size: i32, dx: usize): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) {
    const value = v128.load(at(y, i));
    const slope = f32x4.sub(f32x4.splat(1), f32x4.mul(value, value));
    v128.store(at(dx, i), f32x4.mul(slope, v128.load(at(dy, i))));
  }
  for (let i = whole; i < size; i++) {
    const value = load<f32>(at(y, i));
    store<f32>(at(dx, i), (1 - value * value) * load<f32>(at(dy, i)));
  }
}
