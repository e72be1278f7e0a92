import { at } from '../arithmetic';
import { addTo, clear, copy } from '../rows';
import { Window } from '../windows/window';

/**
 * Writes the values under the window at positions `from` to `to` (exclusive) as rows of `KH · KW · C` values, with
 * zeros for padding. This matrix times the filter as `[KH · KW · C, outputs]` is the convolution (Chellapilla et al.,
 * 2006).
 */
export function im2col(images: usize, window: Window, from: i32, to: i32, columns: usize): void {
  const length = window.kernelWidth * window.channels;
  const depth = window.kernelHeight * length;
  for (let position = from; position < to;) {
    window.moveTo(position);
    const count = min(to - position, window.outputWidth - window.outputColumn);
    for (let kernelRow = 0; kernelRow < window.kernelHeight; kernelRow++) {
      const row = window.rowUnder(kernelRow);
      const target = at(columns, kernelRow * length);
      if (row < 0) clearRuns(target, depth, length, count);
      else if (window.dilationWidth == 1) copyRuns(at(images, row), window, count, target, depth);
      else copyPixels(images, window, kernelRow, count, target, depth);
    }
    columns = at(columns, count * depth);
    position += count;
  }
}

function clearRuns(target: usize, depth: i32, length: i32, count: i32): void {
  for (let i = 0; i < count; i++) clear(at(target, i * depth), length);
}

/**
 * Neighbours in the image are neighbours in the matrix: one copy for each of `count` positions, with zeros for padding
 * around it.
 */
function copyRuns(row: usize, window: Window, count: i32, target: usize, depth: i32): void {
  const channels = window.channels;
  const length = window.kernelWidth * channels;
  const lastLeft = window.width - window.kernelWidth;
  const step = window.strideWidth;
  let left = window.left;
  for (let i = 0; i < count; i++) {
    if (left < 0 || left > lastLeft) copyEdge(row, window, left, target);
    else if (length == 3) copyThree(at(row, left * channels), target);
    else copy(at(row, left * channels), target, length);
    left += step;
    target = at(target, depth);
  }
}

/**
 * Copies three values: three pixels of one channel, the most frequent first layer, or one pixel of three. A loop would
 * take longer.
 */
function copyThree(source: usize, target: usize): void {
  store<u64>(target, load<u64>(source));
  store<f32>(target, load<f32>(source, 8), 8);
}

function copyEdge(row: usize, window: Window, left: i32, target: usize): void {
  const channels = window.channels;
  const first = min(max(0, -left), window.kernelWidth);
  const last = max(first, min(window.kernelWidth, window.width - left));
  clear(target, first * channels);
  copy(at(row, (left + first) * channels), at(target, first * channels), (last - first) * channels);
  clear(at(target, last * channels), (window.kernelWidth - last) * channels);
}

function copyPixels(images: usize, window: Window, kernelRow: i32, count: i32, target: usize, depth: i32): void {
  const channels = window.channels;
  for (let i = 0; i < count; i++) {
    for (let kernelColumn = 0; kernelColumn < window.kernelWidth; kernelColumn++) {
      const pixel = window.pixelUnder(kernelRow, kernelColumn, i);
      const to = at(target, kernelColumn * channels);
      if (pixel < 0) clear(to, channels);
      else copy(at(images, pixel), to, channels);
    }
    target = at(target, depth);
  }
}

/** The reverse of `im2col`: adds each value of the matrix to its source in the images. */
export function col2im(columns: usize, window: Window, from: i32, to: i32, images: usize): void {
  const length = window.kernelWidth * window.channels;
  const depth = window.kernelHeight * length;
  for (let position = from; position < to;) {
    window.moveTo(position);
    const count = min(to - position, window.outputWidth - window.outputColumn);
    for (let kernelRow = 0; kernelRow < window.kernelHeight; kernelRow++) {
      const row = window.rowUnder(kernelRow);
      const source = at(columns, kernelRow * length);
      if (row >= 0 && window.dilationWidth == 1) addRuns(source, depth, window, count, at(images, row));
      else if (row >= 0) addPixels(source, depth, window, kernelRow, count, images);
    }
    columns = at(columns, count * depth);
    position += count;
  }
}

function addRuns(source: usize, depth: i32, window: Window, count: i32, row: usize): void {
  const channels = window.channels;
  let left = window.left;
  for (let i = 0; i < count; i++) {
    const first = min(max(0, -left), window.kernelWidth);
    const last = max(first, min(window.kernelWidth, window.width - left));
    addTo(at(row, (left + first) * channels), at(source, first * channels), (last - first) * channels);
    left += window.strideWidth;
    source = at(source, depth);
  }
}

function addPixels(source: usize, depth: i32, window: Window, kernelRow: i32, count: i32, images: usize): void {
  const channels = window.channels;
  for (let i = 0; i < count; i++) {
    for (let kernelColumn = 0; kernelColumn < window.kernelWidth; kernelColumn++) {
      const pixel = window.pixelUnder(kernelRow, kernelColumn, i);
      if (pixel >= 0) addTo(at(images, pixel), at(source, kernelColumn * channels), channels);
    }
    source = at(source, depth);
  }
}
