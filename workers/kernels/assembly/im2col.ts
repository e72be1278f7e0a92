import { at } from './arithmetic';
import { addTo, clear, copy } from './rows';
import { Window } from './window';

/**
 * Writes what the window covers at positions `from` to `to` (exclusive) as rows of `KH · KW · C` values: the matrix that, times the
 * filter as `[KH · KW · C, outputs]`, is the convolution (Chellapilla et al., 2006). Zeros stand where it covers padding.
 */
export function im2col(images: usize, window: Window, from: i32, to: i32, columns: usize): void {
  const length = window.kernelWidth * window.channels;
  for (let position = from; position < to; position++) {
    window.moveTo(position);
    for (let kernelRow = 0; kernelRow < window.kernelHeight; kernelRow++) {
      const row = window.rowUnder(kernelRow);
      if (row < 0) clear(columns, length);
      else if (window.dilationWidth == 1) copyNeighbours(at(images, row), window, columns);
      else copyPixels(images, window, kernelRow, columns);
      columns = at(columns, length);
    }
  }
}

/** Neighbours in the image are neighbours in the matrix: one copy, between the zeros of padding. */
function copyNeighbours(row: usize, window: Window, target: usize): void {
  const channels = window.channels;
  const first = max(0, -window.left);
  const last = max(first, min(window.kernelWidth, window.width - window.left));
  clear(target, first * channels);
  copy(at(row, (window.left + first) * channels), at(target, first * channels), (last - first) * channels);
  clear(at(target, last * channels), (window.kernelWidth - last) * channels);
}

function copyPixels(images: usize, window: Window, kernelRow: i32, target: usize): void {
  for (let kernelColumn = 0; kernelColumn < window.kernelWidth; kernelColumn++) {
    const pixel = window.pixelUnder(kernelRow, kernelColumn);
    if (pixel < 0) clear(target, window.channels);
    else copy(at(images, pixel), target, window.channels);
    target = at(target, window.channels);
  }
}

/** The reverse: adds each value of such a matrix to the value of the images that it comes from. */
export function col2im(columns: usize, window: Window, from: i32, to: i32, images: usize): void {
  const length = window.kernelWidth * window.channels;
  for (let position = from; position < to; position++) {
    window.moveTo(position);
    for (let kernelRow = 0; kernelRow < window.kernelHeight; kernelRow++) {
      const row = window.rowUnder(kernelRow);
      if (row >= 0 && window.dilationWidth == 1) addNeighbours(columns, window, at(images, row));
      else if (row >= 0) addPixels(columns, window, kernelRow, images);
      columns = at(columns, length);
    }
  }
}

function addNeighbours(source: usize, window: Window, row: usize): void {
  const channels = window.channels;
  const first = max(0, -window.left);
  const last = max(first, min(window.kernelWidth, window.width - window.left));
  addTo(at(row, (window.left + first) * channels), at(source, first * channels), (last - first) * channels);
}

function addPixels(source: usize, window: Window, kernelRow: i32, images: usize): void {
  for (let kernelColumn = 0; kernelColumn < window.kernelWidth; kernelColumn++) {
    const pixel = window.pixelUnder(kernelRow, kernelColumn);
    if (pixel >= 0) addTo(at(images, pixel), source, window.channels);
    source = at(source, window.channels);
  }
}
