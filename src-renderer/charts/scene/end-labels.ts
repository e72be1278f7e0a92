import { indicesWithin } from '../columns.ts';
import type { LineStyle } from '../types.ts';
import type { Drawing, Scene, SceneLine } from './scene.ts';
import { pixels } from './axes.ts';
import type { PlotArea } from './plot.ts';

/** The name of a line beside its right end. */
export interface EndLabel {
  text: string;
  /** Where the line ends, in pixels from the top. */
  from: number;
  /** The middle of the text, in pixels from the top: other labels may have pushed it away from its line. */
  middle: number;
  style: LineStyle;
}

/** Between the plot and the texts, for strokes in the colours of the lines, in pixels. */
export const endStroke = { start: 3, end: 12, text: 16 } as const;
export const endLabelHeight = 14;
/** Upper estimate for the charts' fonts at 12 pixels, as an image cuts off what reaches beyond it. */
const pixelsPerCharacter = 7;
/** The same for texts with several wide letters, such as "member 0". */
const pixelsPerWideLetter = 11;
const pixelsPerOther = 6.5;

/** Labels take at most this share of an image, and no more pixels than these; a legend has longer names. */
const largestShare = 0.22;
const mostPixels = 130;

/** Whether there is room for the names of all these lines, so that they need no legend. */
export function namesAllEnds(lines: readonly SceneLine[], imageWidth: number): boolean {
  return lines.every((line) => hasRoom(line, imageWidth));
}

function hasRoom(line: SceneLine, imageWidth: number): boolean {
  return widthOf(line) <= Math.min(mostPixels, largestShare * imageWidth);
}

/** The lines with a name at their ends; none where the title already names the only line. */
function namedLines(lines: readonly SceneLine[], imageWidth: number): SceneLine[] {
  return lines.length > 1 ? lines.filter((line) => hasRoom(line, imageWidth)) : [];
}

function widthOf({ series }: SceneLine): number {
  const { length } = series.label;
  const wide = series.label.match(/[mw]/gi)?.length ?? 0;
  const estimate = Math.floor(wide * pixelsPerWideLetter + (length - wide) * pixelsPerOther);
  return endStroke.text + Math.max(length * pixelsPerCharacter, estimate);
}

/**
 * Pixels that the labels need beside the plot of an image; 0 for none. It also fits the line that the pointer might
 * single out.
 */
export function endLabelRoom(lines: readonly SceneLine[], imageWidth: number): number {
  return Math.max(0, ...namedLines(lines, imageWidth).map(widthOf));
}

/** The labels of the lines that are drawn and end within the plot, from top to bottom, none over another. */
export function endLabels({ scene, area, place }: Drawing, imageWidth: number): EndLabel[] {
  const ends = namedLines(scene.lines, imageWidth).flatMap((line): EndLabel[] => {
    if (line.isInBand) return [];
    const from = place.y(lastValue(line, scene.x));
    const isInside = from >= area.top && from <= area.bottom;
    return isInside ? [{ text: line.series.label, from, middle: from, style: line.style }] : [];
  });
  const room = Math.floor((area.bottom - area.top) / endLabelHeight);
  const sorted = mostImportant(ends, room).toSorted((a, b) => a.from - b.from);
  const middles = spreadOut(
    sorted.map(({ from }) => from),
    endLabelHeight,
    { from: area.top + endLabelHeight / 2, to: area.bottom - endLabelHeight / 2 },
  );
  return sorted.map((label, index) => ({ ...label, middle: middles[index] }));
}

/** The last finite value of a line in the window; NaN if it has none. */
function lastValue({ thinned: { x, y, count } }: SceneLine, window: { from: number; to: number }): number {
  const [start, end] = indicesWithin(x, count, window);
  for (let index = end - 1; index >= start; index--) if (Number.isFinite(y[index])) return y[index];
  return NaN;
}

/** The boldest lines, and among equals the highest and the lowest first, which bound the others. */
function mostImportant(labels: readonly EndLabel[], count: number): EndLabel[] {
  if (labels.length <= count) return [...labels];
  const byHeight = labels.toSorted((a, b) => a.from - b.from);
  const fromEdge = (label: EndLabel): number =>
    Math.min(byHeight.indexOf(label), byHeight.length - 1 - byHeight.indexOf(label));
  return byHeight
    .toSorted((a, b) => b.style.width - a.style.width || fromEdge(a) - fromEdge(b))
    .slice(0, Math.max(0, count));
}

/**
 * The nearest places to wished ones that are at least `distance` apart and within a range: those with the smallest sum
 * of squared moves, found by pooling adjacent violators (Barlow et al., Statistical inference under order restrictions,
 * 1972).
 *
 * @param wished ascending; the range has room for all of them
 */
export function spreadOut(wished: readonly number[], distance: number, range: { from: number; to: number }): number[] {
  // Without the distances, places need only ascend.
  const pools: { sum: number; count: number }[] = [];
  for (const [index, place] of wished.entries()) {
    let pool = { sum: place - index * distance, count: 1 };
    for (let before = pools.at(-1); before !== undefined; before = pools.at(-1)) {
      if (before.sum / before.count <= pool.sum / pool.count) break;
      pools.pop();
      pool = { sum: before.sum + pool.sum, count: before.count + pool.count };
    }
    pools.push(pool);
  }
  const last = range.to - (wished.length - 1) * distance;
  const means = pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count));
  return means.map((mean, index) => Math.max(range.from, Math.min(last, mean)) + index * distance);
}

/** A numbered flag above a plot, for one event or for several that lie too close to each other. */
interface EventFlag {
  /** `3`, or `3–5`: places among all events of the chart, from 1. */
  number: string;
  /** The position in pixels from the left of the chart. */
  left: number;
  labels: string[];
}

/** The text of a band above a plot. */
interface BandLabel {
  label: string;
  left: number;
  /** Up to the next flag, or the end of the plot. */
  width: number;
}

/** Closer flags are one. */
const minimumDistance = 22;
/** Half of a flag's width, and some room. */
const flagReach = 14;

/** The flags of the events in the window, from left to right. */
export function eventFlags({ x, events }: Pick<Scene, 'x' | 'events'>, area: PlotArea): EventFlag[] {
  const place = pixels(x, area.left, area.right);
  const ordered = events.toSorted((a, b) => a.x - b.x);
  const flags: (EventFlag & { first: number; last: number })[] = [];
  for (const [index, event] of ordered.entries()) {
    if (event.x < x.from || event.x > x.to) continue;
    const left = place(event.x);
    const previous = flags.at(-1);
    if (previous !== undefined && left - previous.left < minimumDistance) {
      previous.labels.push(event.label);
      previous.last = index + 1;
    } else flags.push({ number: '', left, labels: [event.label], first: index + 1, last: index + 1 });
  }
  return flags.map(({ first, last, left, labels }) => ({
    number: first === last ? String(first) : `${first}–${last}`,
    left,
    labels,
  }));
}

/** The labels of the bands in the window, each at its beginning. */
export function bandLabels(
  { x, bands }: Pick<Scene, 'x' | 'bands'>,
  area: PlotArea,
  flags: readonly EventFlag[],
): BandLabel[] {
  const place = pixels(x, area.left, area.right);
  return bands.flatMap(({ from, to, label }) => {
    if (to < x.from || from > x.to) return [];
    const left = Math.max(area.left, place(from));
    const next = flags.find((flag) => flag.left > left)?.left;
    const right = next === undefined ? area.right : next - flagReach;
    return right > left ? [{ label, left, width: right - left }] : [];
  });
}
