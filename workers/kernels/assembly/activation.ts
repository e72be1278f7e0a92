import { at } from './arithmetic';

/** dx ← dy where y > 0, else 0: the gradient of y = ReLU(x). */
export function reluGradient(dy: usize, y: usize, dx: usize, count: i32): void {
  const zeros = f32x4.splat(0);
  const whole = count & ~3;
  for (let i = 0; i < whole; i += 4) {
    v128.store(at(dx, i), v128.and(v128.load(at(dy, i)), f32x4.gt(v128.load(at(y, i)), zeros)));
  }
  for (let i = whole; i < count; i++) {
    store<f32>(at(dx, i), load<f32>(at(y, i)) > 0 ? load<f32>(at(dy, i)) : 0);
  }
}
