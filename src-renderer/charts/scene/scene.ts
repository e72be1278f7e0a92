import { lineStyle, type LineStyle } from '../series/line-style.ts';
import type { Scale } from './scale.ts';
import type { PreparedLine, SeriesLines } from '../series/series-lines.ts';
import { type Tick, ticks, timeTicks } from './ticks.ts';
import type { ChartAxis, ChartRange, ChartViewState, SeriesChartProps } from '../types.ts';
import { countOutside, valueRange, wholeRange } from '../points/visible-range.ts';

export type SceneLine = PreparedLine & { style: LineStyle };

/** Everything on a chart, in the units of its axes: the canvas and the SVG draw the same. */
export interface Scene {
  x: Scale & { ticks: Tick[]; label: string };
  y: Scale & { ticks: Tick[]; label: string };
  /** All of x, whatever part of it is shown. */
  whole: ChartRange;
  lines: SceneLine[];
  markers: { x: number; y: number; label: string; style: LineStyle }[];
  bands: (ChartRange & { label: string })[];
  events: { x: number; label: string }[];
  /** Points above and below the y axis, which outlier clipping left out. */
  outside: number;
}

const axisLabels: Record<ChartAxis, string> = { step: 'step', epoch: 'epoch', time: 'time' };
const pixelsPerTick = { x: 90, y: 45 };

/** What a chart of this size shows now. `lines` is the chart's own, and makes the next scene cheap. */
export function composeScene(
  props: SeriesChartProps,
  lines: SeriesLines,
  size: { width: number; height: number },
): Scene {
  const { view, markers = [], bands = [], events = [] } = props;
  const { axis, logX: isLogX, smoothing, clipsOutliers, hiddenRanks } = view;
  const isLogY = view.logY && props.isLinear !== true;
  const shown = props.series.filter(
    ({ role, rank }) => role !== 'rank' || rank === undefined || !hiddenRanks.has(rank),
  );
  const whole = wholeRange(shown, axis, isLogX);
  const window = visibleWindow(view, whole);
  const settings = { axis, isLogX, smoothing, window, buckets: Math.max(1, Math.round(size.width)) };
  const prepared = lines.prepare(shown, settings);
  const styled = prepared.map((line) => ({
    ...line,
    style: lineStyle(line.series, props.series.indexOf(line.series), view),
  }));
  const x = { ...window, isLog: isLogX };
  const y = { ...valueRange(prepared, window, { isLog: isLogY, clipsOutliers }), isLog: isLogY };
  const xTicks = axis === 'time' ? timeTicks : ticks;
  return {
    x: { ...x, ticks: xTicks(x, Math.max(2, size.width / pixelsPerTick.x)), label: axisLabels[axis] },
    y: { ...y, ticks: ticks(y, Math.max(2, size.height / pixelsPerTick.y)), label: props.yLabel },
    whole,
    lines: styled,
    markers: placeMarkers(markers, styled, axis),
    bands: bands.flatMap((band) => placeBand(band, axis)),
    events: events.flatMap(({ x, label }) => (x[axis] === null ? [] : [{ x: x[axis], label }])),
    outside: clipsOutliers ? countOutside(prepared, window, y) : 0,
  };
}

/** In the order of drawing: the ensemble in front, behind it what is hovered. */
export function backToFront(lines: readonly SceneLine[]): SceneLine[] {
  return lines.toSorted((a, b) => depth(a.style) - depth(b.style));
}

function depth({ color, width, opacity }: LineStyle): number {
  return (color === 'text' ? 10 : 0) + width + opacity;
}

/** A zoom that began at or below 0 begins, with logarithms, where the data does. */
function visibleWindow({ zoom, logX }: ChartViewState, whole: ChartRange): ChartRange {
  if (zoom === null || (logX && zoom.to <= whole.from)) return whole;
  return logX && zoom.from <= 0 ? { from: whole.from, to: zoom.to } : zoom;
}

function placeMarkers(
  markers: NonNullable<SeriesChartProps['markers']>,
  lines: Scene['lines'],
  axis: ChartAxis,
): Scene['markers'] {
  return markers.flatMap(({ seriesId, x, y, label }) => {
    const line = lines.find(({ series }) => series.id === seriesId);
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
