import { pixels } from './axes.ts';
import type { PlotArea } from './plot.ts';
import type { Scene } from './scene.ts';

/** Text at the top of an event's line or of a band, in exported images; pages have a rail of flags above the plot. */
export interface Note {
  label: string;
  /** Left end of the text, in pixels. */
  left: number;
  /** Rows below the top of the plot: notes that would overlap go to different rows. */
  row: number;
}

/** Upper estimate for the charts' fonts at 12 pixels, so that notes do not overlap. */
const pixelsPerCharacter = 6.5;
const besideLine = 3;
const gap = 8;
/** More rows would cover the lines. Labels without room are in the chart's table and in tooltips. */
const maximumRows = 4;
const pixelsPerRow = 70;
export const noteHeight = 14;

/** The notes of the marks in the window, as far as there is room. */
export function placeNotes({ x, bands, events }: Scene, area: PlotArea): Note[] {
  const position = pixels(x, area.left, area.right);
  const marks = [...bands.map(({ from, label }) => ({ x: from, label })), ...events]
    .filter((mark) => mark.x >= x.from && mark.x <= x.to)
    .sort((a, b) => a.x - b.x);
  const rows = Math.min(maximumRows, Math.floor((area.bottom - area.top) / pixelsPerRow));
  const ends: number[] = [];
  return marks.flatMap(({ x: at, label }): Note[] => {
    const width = label.length * pixelsPerCharacter;
    if (width > area.right - area.left) return [];
    const right = position(at) + besideLine;
    // Near the right border the text ends at its line instead.
    const left = right + width <= area.right ? right : Math.max(area.left, position(at) - besideLine - width);
    const row = Array.from({ length: rows }, (_, index) => index).find((index) => left >= (ends[index] ?? -Infinity));
    if (row === undefined) return [];
    ends[row] = left + width + gap;
    return [{ label, left, row }];
  });
}
