import type { PlacedPoint } from '../scatter/scatter.ts';
import { hundredths, type Place } from '../scene/plot.ts';
import type { ChartProps, ChartRange, Colored, PointSymbol } from '../types.ts';

/** A span with its place among those of its row that overlap. */
interface PlacedSpan extends Span {
  lane: number;
  /** Lanes of the row. */
  lanes: number;
}

/** The share of a row's height that spans fill. */
const fill = 0.8;

/** Puts each span into the first lane of its row that is free when it begins. */
export function packLanes(spans: readonly Span[], rows: number): PlacedSpan[] {
  const ends: number[][] = Array.from({ length: rows }, () => []);
  const placed = spans
    .toSorted((left, right) => left.from - right.from || left.id - right.id)
    .map((span) => {
      const free = ends[span.row].findIndex((end) => end <= span.from);
      const lane = free === -1 ? ends[span.row].length : free;
      ends[span.row][lane] = span.to;
      return { ...span, lane };
    });
  return placed.map((span) => ({ ...span, lanes: ends[span.row].length }));
}

/** The pixels of a span. The first row is at the top; a span is at least a pixel wide. */
export function spanBox({ from, to, row, lane, lanes }: PlacedSpan, rows: number, { x, y }: Place) {
  const height = (y(0) - y(1)) * fill;
  const top = y(rows - 1 - row) - height / 2 + (lane * height) / lanes;
  const left = x(from);
  return { left, top, width: Math.max(x(to) - left - 0.5, 1), height: Math.max(height / lanes - 1, 1) };
}

/** Spans as one SVG path. */
export function spanPath(spans: readonly PlacedSpan[], rows: number, place: Place): string {
  return spans
    .map((span) => spanBox(span, rows, place))
    .map(({ left, top, width, height }) => {
      const [across, down] = [hundredths(width), hundredths(height)];
      return `M${hundredths(left)} ${hundredths(top)}h${across}v${down}h${-across}z`;
    })
    .join('');
}

/** A symbol fits into a span that is at least so wide and high, in pixels. */
const leastForSymbol = 12;

/** The middles of the spans that have room for a symbol. */
export function spanMiddles(spans: readonly PlacedSpan[], rows: number, place: Place): PlacedPoint[] {
  return spans.flatMap((span) => {
    const { left, top, width, height } = spanBox(span, rows, place);
    if (Math.min(width, height) < leastForSymbol) return [];
    return [{ id: span.id, left: left + width / 2, top: top + height / 2 }];
  });
}

/** The id of the span at a pixel, or null. */
export function spanAt(
  spans: readonly PlacedSpan[],
  rows: number,
  place: Place,
  left: number,
  top: number,
): number | null {
  const found = spans.find((span) => {
    const box = spanBox(span, rows, place);
    return left >= box.left && left <= box.left + box.width && top >= box.top && top <= box.top + box.height;
  });
  return found?.id ?? null;
}

/** What took some time in a row, e.g. a trial on a device. */
export interface Span extends ChartRange {
  id: number;
  /** Index of a row. */
  row: number;
}

/** Spans of one kind. */
export interface SpanGroup extends Colored {
  label: string;
  /** The symbol in the middle of each span that has room for it. */
  symbol: PointSymbol;
  isFaded?: boolean;
  spans: readonly Span[];
}

export interface SpanChartProps extends ChartProps {
  rows: readonly string[];
  groups: readonly SpanGroup[];
  /** What `from` and `to` count, in seconds. */
  xLabel: string;
  hovered?: number | null;
  /** What an id stands for, e.g. `trial`. */
  idName: string;
}
