import type { LineStyle } from '../types.ts';
import type { Pen, PlotArea } from './plot.ts';

/**
 * Draws lines with more points than pixels: records how far up and down they go in each column of device pixels. Drawn
 * column by column they look the same as connected points, in a third of the time: vertical strokes through pixel
 * centres neither cross nor need antialiasing, on which a rasteriser without a GPU spends its time. Two lines give the
 * area between them.
 */
export class PixelColumns implements Pen {
  /** Device pixels per unit of the canvas. */
  readonly #ratio: number;
  readonly #dash: readonly number[];
  /** Half of the line's width, in device pixels. */
  readonly #reach: number;
  /** The extremes in device pixels. The top of a column that the line does not pass is below its bottom. */
  readonly #tops: Float32Array;
  readonly #bottoms: Float32Array;
  #x = 0;
  #y = 0;

  constructor({ right }: PlotArea, ratio: number, { width, dash }: Pick<LineStyle, 'width' | 'dash'>) {
    this.#ratio = ratio;
    this.#dash = dash;
    // A narrower line would miss columns.
    this.#reach = Math.max(1, width * ratio) / 2;
    this.#tops = new Float32Array(Math.ceil(right * ratio)).fill(Infinity);
    this.#bottoms = new Float32Array(this.#tops.length).fill(-Infinity);
  }

  moveTo(x: number, y: number): void {
    this.#x = x * this.#ratio;
    this.#y = y * this.#ratio;
  }

  /** `x` never falls, as along a thinned line. */
  lineTo(x: number, y: number): void {
    const [fromX, fromY, toX, toY] = [this.#x, this.#y, x * this.#ratio, y * this.#ratio];
    const slope = (toY - fromY) / (toX - fromX);
    const reach = this.#reach;
    const last = Math.min(Math.floor(toX + reach - 0.5), this.#tops.length - 1);
    for (let column = Math.max(0, Math.ceil(fromX - reach - 0.5)); column <= last; column++) {
      const [left, right] = [column + 0.5 - reach, column + 0.5 + reach];
      this.#cover(column, left <= fromX ? fromY : fromY + slope * (left - fromX));
      this.#cover(column, right >= toX ? toY : fromY + slope * (right - fromX));
    }
    this.#x = toX;
    this.#y = toY;
  }

  /**
   * Traces a vertical stroke, in device pixels, in each column that the line passes. In the gaps between dashes it
   * traces only what extends beyond the dashes on both sides, so that no spike is lost. The pen must be one pixel wide.
   */
  trace(pen: Pen): void {
    const count = this.#tops.length;
    let gapStart = 0;
    for (let column = 0; column < count; column++) {
      if (this.#isInGap(column)) continue;
      this.#strokeSpikes(gapStart, column, pen);
      this.#stroke(column, this.#tops[column], this.#bottoms[column], pen);
      gapStart = column + 1;
    }
    this.#strokeSpikes(gapStart, count, pen);
  }

  /** Dashes are counted from the canvas's left edge, so that they do not move. */
  #isInGap(column: number): boolean {
    if (this.#dash.length === 0) return false;
    let rest = ((column + 0.5) / this.#ratio) % this.#dash.reduce((sum, length) => sum + length, 0);
    let part = 0;
    while (rest >= this.#dash[part]) rest -= this.#dash[part++];
    return part % 2 === 1;
  }

  #strokeSpikes(start: number, end: number, pen: Pen): void {
    const width = 2 * this.#reach;
    const highest = Math.min(this.#tops[start - 1] ?? Infinity, this.#tops[end] ?? Infinity);
    const lowest = Math.max(this.#bottoms[start - 1] ?? -Infinity, this.#bottoms[end] ?? -Infinity);
    for (let column = start; column < end; column++) {
      const [top, bottom] = [this.#tops[column], this.#bottoms[column]];
      if (top < highest - width) this.#stroke(column, top, Math.min(bottom, highest), pen);
      if (bottom > lowest + width) this.#stroke(column, Math.max(top, lowest), bottom, pen);
    }
  }

  /** Where the line climbs by `d` within its width `w`, its stroke is `sqrt(w^2 + d^2)` tall. */
  #stroke(column: number, top: number, bottom: number, pen: Pen): void {
    if (top > bottom) return;
    const [width, climb] = [2 * this.#reach, bottom - top];
    const overhang = (Math.sqrt(width * width + climb * climb) - climb) / 2;
    pen.moveTo(column + 0.5, top - overhang);
    pen.lineTo(column + 0.5, bottom + overhang);
  }

  #cover(column: number, y: number): void {
    if (y < this.#tops[column]) this.#tops[column] = y;
    if (y > this.#bottoms[column]) this.#bottoms[column] = y;
  }
}
