import { at } from '../arithmetic';

/** Values `j` to `j + 3` of a row; fewer at its end, where the other lanes are 0. */
export function loadLanes(row: usize, j: i32, size: i32): v128 {
  const address = at(row, j);
  if (j + 4 <= size) return v128.load(address);
  let lanes = v128.load32_zero(address);
  if (j + 1 < size) lanes = f32x4.replace_lane(lanes, 1, load<f32>(address, 4));
  if (j + 2 < size) lanes = f32x4.replace_lane(lanes, 2, load<f32>(address, 8));
  return lanes;
}

/** Writes values `j` to `j + 3` of a row; fewer at its end. */
export function storeLanes(row: usize, j: i32, size: i32, lanes: v128): void {
  const address = at(row, j);
  if (j + 4 <= size) {
    v128.store(address, lanes);
    return;
  }
  store<f32>(address, f32x4.extract_lane(lanes, 0));
  if (j + 1 < size) store<f32>(address, f32x4.extract_lane(lanes, 1), 4);
  if (j + 2 < size) store<f32>(address, f32x4.extract_lane(lanes, 2), 8);
}

/** Writes eight values. */
export function storeEight(address: usize, low: v128, high: v128): void {
  v128.store(address, low);
  v128.store(address, high, 16);
}
