import { pixels } from '../scene/axes.ts';
import type { PlotArea } from '../scene/plot.ts';
import type { Scene } from '../scene/scene.ts';

/** A numbered flag above a plot, for one event or for several that lie too close to each other. */
export interface EventFlag {
  /** `3`, or `3–5`: places among all events of the chart, from 1. */
  number: string;
  /** The position in pixels from the left of the chart. */
  left: number;
  labels: string[];
}

/** The text of a band above a plot. */
export interface BandLabel {
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
