import { lineStyle, type Palette } from './line-style.ts';
import { type Envelope, envelopeOf } from '../points/envelope.ts';
import type { PreparedLine, SeriesLines } from '../points/series-lines.ts';
import { fractionOf, type Scale, type Tick, ticks, timeTicks } from './axes.ts';
import type { Place, PlotArea } from './plot.ts';
import type { ChartAxis, ChartRange, ChartViewState, LineStyle, SeriesChartProps } from '../types.ts';
import type { ThinnedLine } from '../points/buckets.ts';
import { countOutside, valueRange, wholeRange } from '../points/visible-range.ts';

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
