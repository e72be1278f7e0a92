import { at, multiplyAdd } from './arithmetic';

/** target ← source, `count` values. */
export function copy(source: usize, target: usize, count: i32): void {
  const whole = count & ~3;
  for (let i = 0; i < whole; i += 4) v128.store(at(target, i), v128.load(at(source, i)));
  for (let i = whole; i < count; i++) store<f32>(at(target, i), load<f32>(at(source, i)));
}

/** target ← 0, `count` values. */
export function clear(target: usize, count: i32): void {
  const whole = count & ~3;
  for (let i = 0; i < whole; i += 4) v128.store(at(target, i), f32x4.splat(0));
  for (let i = whole; i < count; i++) store<f32>(at(target, i), 0);
}

/** target ← target + source, `count` values, with the same bits as scalar additions. */
export function addTo(target: usize, source: usize, count: i32): void {
  const whole = count & ~3;
  for (let i = 0; i < whole; i += 4) {
    v128.store(at(target, i), f32x4.add(v128.load(at(target, i)), v128.load(at(source, i))));
  }
  for (let i = whole; i < count; i++) {
    store<f32>(at(target, i), load<f32>(at(target, i)) + load<f32>(at(source, i)));
  }
}

/** target ← target + a · b, value by value. */
export function addProducts(target: usize, a: usize, b: usize, count: i32): void {
  const whole = count & ~3;
  for (let i = 0; i < whole; i += 4) {
    v128.store(at(target, i), multiplyAdd(v128.load(at(a, i)), v128.load(at(b, i)), v128.load(at(target, i))));
  }
  for (let i = whole; i < count; i++) {
    store<f32>(at(target, i), load<f32>(at(target, i)) + load<f32>(at(a, i)) * load<f32>(at(b, i)));
  }
}

/** target ← target + factor · source, `count` values. */
export function addScaled(target: usize, source: usize, factor: f32, count: i32): void {
  const factors = f32x4.splat(factor);
  const whole = count & ~3;
  for (let i = 0; i < whole; i += 4) {
    v128.store(at(target, i), multiplyAdd(v128.load(at(source, i)), factors, v128.load(at(target, i))));
  }
  for (let i = whole; i < count; i++) {
    store<f32>(at(target, i), load<f32>(at(target, i)) + factor * load<f32>(at(source, i)));
  }
}

/** Copies `rows` rows of `columns` values; distances between rows are in values. */
export function copyRows(source: usize, sourceRow: i32, target: usize, targetRow: i32, rows: i32, columns: i32): void {
  for (let i = 0; i < rows; i++) copy(at(source, i * sourceRow), at(target, i * targetRow), columns);
}

/** target ← a · b, value by value. */
export function multiply(a: usize, b: usize, target: usize, count: i32): void {
  const whole = count & ~3;
  for (let i = 0; i < whole; i += 4) {
    v128.store(at(target, i), f32x4.mul(v128.load(at(a, i)), v128.load(at(b, i))));
  }
  for (let i = whole; i < count; i++) store<f32>(at(target, i), load<f32>(at(a, i)) * load<f32>(at(b, i)));
}

/** x ← x / divisor, `count` values. */
export function divideBy(x: usize, divisor: f32, count: i32): void {
  const whole = count & ~3;
  for (let i = 0; i < whole; i += 4) v128.store(at(x, i), f32x4.div(v128.load(at(x, i)), f32x4.splat(divisor)));
  for (let i = whole; i < count; i++) store<f32>(at(x, i), load<f32>(at(x, i)) / divisor);
}
