/**
 * Movements of one image `[H, W, C]`, row-major. What comes from outside of the image is 0, which is the mean colour of
 * normalized images.
 */

/** H, W and C. */
export type ImageSize = readonly [height: number, width: number, channels: number];

/** A crop of a padded image, mirrored or not. */
export interface Shift {
  /** Row and column of the source at the target's top left. */
  top: number;
  left: number;
  /** Whether columns, rows are mirrored. */
  isMirrored: boolean;
  isFlipped: boolean;
}

/** Writes the shifted `source` into `target`, which must hold zeros. */
export function shift(source: Float32Array, target: Float32Array, size: ImageSize, by: Shift): void {
  const [height, width, channels] = size;
  for (let row = 0; row < height; row++) {
    const fromRow = (by.isFlipped ? height - 1 - row : row) + by.top;
    if (fromRow < 0 || fromRow >= height) continue;
    for (let column = 0; column < width; column++) {
      const fromColumn = (by.isMirrored ? width - 1 - column : column) + by.left;
      if (fromColumn < 0 || fromColumn >= width) continue;
      const from = (fromRow * width + fromColumn) * channels;
      const to = (row * width + column) * channels;
      for (let channel = 0; channel < channels; channel++) target[to + channel] = source[from + channel];
    }
  }
}

/**
 * Where a pixel of the result comes from, relative to the image's centre, x to the right and y down: x' = a·x + b·y +
 * c, y' = d·x + e·y + f.
 */
export type Affine = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** Turns an image counterclockwise. */
export function rotation(degrees: number): Affine {
  const angle = (degrees * Math.PI) / 180;
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  return [cosine, -sine, 0, sine, cosine, 0];
}

/** Writes `source`, moved by an affine map and interpolated bilinearly, into `target`. */
export function warp(source: Float32Array, target: Float32Array, size: ImageSize, map: Affine): void {
  const [height, width, channels] = size;
  const [a, b, c, d, e, f] = map;
  const [centreX, centreY] = [(width - 1) / 2, (height - 1) / 2];
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [x, y] = [column - centreX, row - centreY];
      const place = { x: a * x + b * y + c + centreX, y: d * x + e * y + f + centreY };
      interpolate(source, size, place, target, (row * width + column) * channels);
    }
  }
}

function interpolate(
  source: Float32Array,
  [height, width, channels]: ImageSize,
  { x, y }: { x: number; y: number },
  target: Float32Array,
  to: number,
): void {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, down] = [x - left, y - top];
  target.fill(0, to, to + channels);
  for (let corner = 0; corner < 4; corner++) {
    const [column, row] = [left + (corner & 1), top + (corner >> 1)];
    const share = (corner & 1 ? right : 1 - right) * (corner >> 1 ? down : 1 - down);
    if (share === 0 || column < 0 || column >= width || row < 0 || row >= height) continue;
    const from = (row * width + column) * channels;
    for (let channel = 0; channel < channels; channel++) target[to + channel] += share * source[from + channel];
  }
}

/** A rectangle of pixels: rows from `top` to before `bottom`, columns from `left` to before `right`. */
export interface Rectangle {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** The part of a rectangle around a centre that lies in the image. */
export function rectangleAround(
  centre: readonly [row: number, column: number],
  [rows, columns]: readonly [number, number],
  [height, width]: ImageSize,
): Rectangle {
  const within = (value: number, size: number) => Math.min(Math.max(value, 0), size);
  const top = centre[0] - Math.floor(rows / 2);
  const left = centre[1] - Math.floor(columns / 2);
  return {
    top: within(top, height),
    bottom: within(top + rows, height),
    left: within(left, width),
    right: within(left + columns, width),
  };
}

/** Replaces the pixels of a rectangle by those of another image; by 0 without one. */
export function paste(target: Float32Array, [, width, channels]: ImageSize, at: Rectangle, from?: Float32Array): void {
  for (let row = at.top; row < at.bottom; row++) {
    const start = (row * width + at.left) * channels;
    const end = (row * width + at.right) * channels;
    if (from === undefined) target.fill(0, start, end);
    else target.set(from.subarray(start, end), start);
  }
}
