import { lineStyle, type Palette } from './line-style.ts';
import { type Envelope, envelopeOf, type ThinnedLine } from '../buckets.ts';
import type { PreparedLine, SeriesLines } from '../series-lines.ts';
import { fractionOf, type Scale, type Tick, ticks, timeTicks } from './axes.ts';
import type { Place, PlotArea } from './plot.ts';
import type { ChartAxis, ChartRange, ChartSeries, ChartViewState, LineStyle, SeriesChartProps } from '../types.ts';
import { bisectRight, quantileSorted } from 'd3-array';
import { type Countable, finiteNumbers, positiveNumbers, rangeOf } from '../../../core/series/extremes.ts';
import { indicesWithin } from '../columns.ts';

export type SceneLine = PreparedLine & {
  style: LineStyle;
  /** Whether the band of the members stands for it. */
  isInBand: boolean;
};

/** More ranks than this are a band, in front of which the one under the pointer is a line. */
const maximumRankLines = 8;

/** Everything on a chart, in the units of its axes. The canvas and the SVG draw the same scene. */
export interface Scene {
  x: Scale & { ticks: Tick[]; label: string };
  y: Scale & { ticks: Tick[]; label: string };
  /** The full range of x, whatever part of it is visible. */
  whole: ChartRange;
  lines: SceneLine[];
  /** From the smallest to the largest rank, where there are many; else null. */
  members: Envelope | null;
  markers: { x: number; y: number; label: string; style: LineStyle }[];
  bands: (ChartRange & { label: string })[];
  events: { x: number; label: string }[];
  /** How many points outlier clipping leaves outside the y axis. */
  outside: number;
}

/** A scene at its place on an image. */
export interface Drawing {
  scene: Scene;
  area: PlotArea;
  place: Place;
  palette: Palette;
}

const pixelsPerTick = { x: 90, y: 45 };

/** What a chart of this size shows now. `lines` belongs to the chart and caches work between scenes. */
export function composeScene(
  props: SeriesChartProps,
  lines: SeriesLines,
  size: { width: number; height: number },
): Scene {
  const { view, markers = [], bands = [], events = [] } = props;
  const { axis, logX: isLogX, smoothing, clipsOutliers, hiddenRanks } = view;
  const isLogY = view.logY && props.isLinear !== true;
  const shown = props.series.filter(({ rank }) => rank === undefined || !hiddenRanks.has(rank));
  const marks = events.flatMap(({ x, label }) => (x[axis] === null ? [] : [{ x: x[axis], label }]));
  const whole = wholeRange(
    shown,
    axis,
    isLogX,
    marks.map(({ x }) => x),
  );
  const window = visibleWindow(view, whole);
  const settings = { axis, isLogX, smoothing, window, buckets: Math.max(1, Math.round(size.width)) };
  const prepared = lines.prepare(shown, settings);
  const styled = styleLines(prepared, props);
  const x = { ...window, isLog: isLogX };
  const y = { ...valueRange(prepared, window, { isLog: isLogY, clipsOutliers }), isLog: isLogY };
  const xTicks = axis === 'time' ? timeTicks : ticks;
  return {
    x: { ...x, ticks: xTicks(x, Math.max(2, size.width / pixelsPerTick.x)), label: axis },
    y: { ...y, ticks: ticks(y, Math.max(2, size.height / pixelsPerTick.y)), label: props.yLabel },
    whole,
    lines: styled,
    members: membersOf(styled),
    markers: placeMarkers(markers, styled, axis),
    bands: bands.flatMap((band) => placeBand(band, axis)),
    events: marks,
    outside: clipsOutliers ? countOutside(prepared, window, y) : 0,
  };
}

function styleLines(prepared: readonly PreparedLine[], { series, view }: SeriesChartProps): SceneLine[] {
  const hasBand = prepared.filter((line) => line.series.role === 'rank').length > maximumRankLines;
  return prepared.map((line) => ({
    ...line,
    style: lineStyle(line.series, series.indexOf(line.series), view),
    isInBand: hasBand && line.series.role === 'rank' && line.series.rank !== view.hoveredRank,
  }));
}

/** The band of all ranks, the hovered one included; null where each is a line. */
function membersOf(lines: readonly SceneLine[]): Envelope | null {
  if (lines.every(({ isInBand }) => !isInBand)) return null;
  const thinned = lines.filter(({ series }) => series.role === 'rank').map((line) => line.thinned);
  return envelopeOf(thinned, thinned[0].grid);
}

/** The lines that are drawn, in the order of drawing: the ensemble in front, behind it a hovered rank. */
export function backToFront(lines: readonly SceneLine[]): SceneLine[] {
  return lines.filter(({ isInBand }) => !isInBand).toSorted((a, b) => depth(a.style) - depth(b.style));
}

/** Opacity of the band of many members. */
export const membersOpacity = 0.25;
/** Of its border. */
export const membersOutline = 0.6;
/** Of the values behind a smoothed line. */
const rawOpacity = 0.3;

/** What is stroked, in the order of drawing: behind each smoothed line its values as they were measured. */
export function strokesOf({ lines }: Pick<Scene, 'lines'>): { thinned: ThinnedLine; style: LineStyle }[] {
  return backToFront(lines).flatMap(({ raw, thinned, style }) => [
    ...(raw === null ? [] : [{ thinned: raw, style: { ...style, width: 1, dash: [], opacity: rawOpacity } }]),
    { thinned, style },
  ]);
}

function depth({ color, width, opacity }: LineStyle): number {
  return (color === 'text' ? 10 : 0) + width + opacity;
}

/** On a logarithmic axis, a zoom that begins at or below 0 begins where the data does. */
function visibleWindow({ zoom, logX }: ChartViewState, whole: ChartRange): ChartRange {
  if (zoom === null || (logX && zoom.to <= whole.from)) return whole;
  return logX && zoom.from <= 0 ? { from: whole.from, to: zoom.to } : zoom;
}

/** The markers whose points are within both axes. */
export function visibleMarkers({ x, y, markers }: Scene): Scene['markers'] {
  const isWithin = (fraction: number): boolean => fraction >= 0 && fraction <= 1;
  return markers.filter((marker) => isWithin(fractionOf(x, marker.x)) && isWithin(fractionOf(y, marker.y)));
}

/** The corners of a marker: a triangle that points down at its value, larger for the ensemble. */
export function markerPoints(
  { x, y, style }: Scene['markers'][number],
  place: Place,
): readonly (readonly [left: number, top: number])[] {
  const [left, tip, size] = [place.x(x), place.y(y) - 2, style.color === 'text' ? 6 : 4];
  return [
    [left, tip],
    [left - size, tip - 1.6 * size],
    [left + size, tip - 1.6 * size],
  ];
}

function placeMarkers(
  markers: NonNullable<SeriesChartProps['markers']>,
  lines: Scene['lines'],
  axis: ChartAxis,
): Scene['markers'] {
  return markers.flatMap(({ seriesId, x, y, label }) => {
    const line = lines.find(({ series, isInBand }) => series.id === seriesId && !isInBand);
    return line === undefined || x[axis] === null ? [] : [{ x: x[axis], y, label, style: line.style }];
  });
}

function placeBand(
  { from, to, label }: NonNullable<SeriesChartProps['bands']>[number],
  axis: ChartAxis,
): Scene['bands'] {
  const [start, end] = [from[axis], to[axis]];
  return start === null || end === null ? [] : [{ from: start, to: end, label }];
}

/** Points of each line, evenly spaced, from which outlier clipping estimates its percentiles. */
const clippingSample = 1000;
/**
 * Smaller spans, relative to the values, come from the rounding of a smoothed constant and would look like noise if
 * magnified.
 */
const roundingErrors = 1e-12;
/** Room at both ends of the y axis, as a share of its span. */
const room = 0.05;

/**
 * The range of x over all lines and the marks beside them: a rank can be lost before its first point. On a logarithmic
 * axis it starts at the first x above 0. Marks alone make no range, as a chart without points says so.
 */
function wholeRange(
  series: readonly ChartSeries[],
  axis: ChartAxis,
  isLog: boolean,
  marks: readonly number[] = [],
): ChartRange {
  const ends = series.flatMap(({ x, length }) => {
    const column = x[axis];
    if (column === null || length === 0) return [];
    const first = isLog ? bisectRight(column, 0, 0, length) : 0;
    return first < length ? [column[first], column[length - 1]] : [];
  });
  // A typed array, as everywhere else: the loop over millions of points runs at half its speed once it has seen another
  // kind.
  const shown = ends.length === 0 ? [] : [...ends, ...marks];
  const range = rangeOf([Float64Array.from(shown)], isLog ? positiveNumbers : finiteNumbers);
  if (range === null) return emptyRange(isLog);
  const { from, to } = range;
  if (from < to) return range;
  return isLog ? { from: from / 2, to: from * 2 } : { from: from - 0.5, to: from + 0.5 };
}

interface ValueRangeOptions {
  isLog: boolean;
  clipsOutliers: boolean;
}

/** The y axis that fits the visible points, with room at both ends. */
function valueRange(lines: readonly PreparedLine[], window: ChartRange, options: ValueRangeOptions): ChartRange {
  const countable = options.isLog ? positiveNumbers : finiteNumbers;
  const bounds = options.clipsOutliers
    ? clippedRange(lines, window, countable)
    : thinnedRange(lines, window, countable);
  return bounds === null ? emptyRange(options.isLog) : withRoom(bounds, options.isLog);
}

/** The range of the thinned values in the window, which is that of all points there: thinning keeps extremes. */
function thinnedRange(lines: readonly PreparedLine[], window: ChartRange, countable: Countable): ChartRange | null {
  const thinned = lines.flatMap(({ thinned, raw, band }) => [
    thinned,
    ...(raw === null ? [] : [raw]),
    ...(band === null ? [] : [band.lower, band.upper]),
  ]);
  const visible = thinned.map(({ x, y, count }) => y.subarray(...indicesWithin(x, count, window)));
  return rangeOf(visible, countable);
}

/** The 5th to the 95th percentile of the visible points. */
function clippedRange(lines: readonly PreparedLine[], window: ChartRange, countable: Countable): ChartRange | null {
  const sample: number[] = [];
  for (const { series, x, y } of lines) {
    const [start, end] = indicesWithin(x, series.length, window);
    const stride = Math.max(1, Math.ceil((end - start) / clippingSample));
    for (let index = start; index < end; index += stride) {
      if (y[index] >= countable.from && y[index] <= countable.to) sample.push(y[index]);
    }
  }
  const sorted = sample.sort((a, b) => a - b);
  const [from, to] = [quantileSorted(sorted, 0.05), quantileSorted(sorted, 0.95)];
  return from === undefined || to === undefined ? null : { from, to };
}

/** How many visible finite values lie outside the y axis, of the points that the page holds. */
function countOutside(lines: readonly PreparedLine[], window: ChartRange, shown: ChartRange): number {
  let count = 0;
  for (const { series, x, y } of lines) {
    const [start, end] = indicesWithin(x, series.length, window);
    for (let index = start; index < end; index++) {
      if ((y[index] < shown.from || y[index] > shown.to) && Number.isFinite(y[index])) count += 1;
    }
  }
  return count;
}

function emptyRange(isLog: boolean): ChartRange {
  return isLog ? { from: 1, to: 10 } : { from: 0, to: 1 };
}

function withRoom({ from, to }: ChartRange, isLog: boolean): ChartRange {
  const isFlat = to - from <= roundingErrors * Math.max(Math.abs(from), Math.abs(to));
  if (isLog) {
    const factor = isFlat ? 2 : (to / from) ** room;
    return { from: from / factor, to: to * factor };
  }
  const margin = isFlat ? Math.abs(from) * room || 1 : (to - from) * room;
  return { from: from - margin, to: to + margin };
}
