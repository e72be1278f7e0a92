import { type BucketGrid, bucketGrid, canGrow, ThinnedLine } from './buckets.ts';
import { DebiasedSmoothing } from './smoothing.ts';
import type { ChartAxis, ChartRange, ChartSeries, Column } from './types.ts';

/** How lines are shown. */
export interface LineSettings {
  axis: ChartAxis;
  isLogX: boolean;
  smoothing: number;
  /** The visible part of the x axis. */
  window: ChartRange;
  /** Buckets across the window, about one for each pixel. */
  buckets: number;
}

/** One line as it is drawn. */
export interface PreparedLine {
  series: ChartSeries;
  /** Its column for the current axis. */
  x: Column;
  /** All values, smoothed if the view asks for it; only the first `series.length` elements count. */
  y: Float64Array;
  thinned: ThinnedLine;
  /** The values before smoothing, thinned; null for ranks, and where nothing is smoothed. */
  raw: ThinnedLine | null;
  /** Thinned borders of the area behind the line. */
  band: { lower: ThinnedLine; upper: ThinnedLine } | null;
}

interface Cached {
  version: number;
  axis: ChartAxis;
  smoothing: DebiasedSmoothing | null;
  thinned: ThinnedLine;
  raw: ThinnedLine | null;
  band: PreparedLine['band'];
}

/**
 * Smooths and thins a chart's lines and caches the result: new points cost only their own work. Another view, or
 * changed points, recompute the whole line.
 */
export class SeriesLines {
  #cache = new Map<string, Cached>();

  /** Prepares all lines that have a column for the axis. */
  prepare(series: readonly ChartSeries[], settings: LineSettings): PreparedLine[] {
    const grid = bucketGrid(settings.window, settings.isLogX, settings.buckets);
    const previous = this.#cache;
    this.#cache = new Map();
    const lines: PreparedLine[] = [];
    for (const one of series) {
      const x = one.x[settings.axis];
      if (x === null) continue;
      const cached = reuse(previous.get(one.id), one, settings, grid) ?? start(one, settings, grid);
      this.#cache.set(one.id, cached);
      lines.push(extend(cached, one, x, grid));
    }
    return lines;
  }
}

/** The cached parts of a line that still fit; null if none does. */
function reuse(
  cached: Cached | undefined,
  series: ChartSeries,
  settings: LineSettings,
  grid: BucketGrid,
): Cached | null {
  const { axis, smoothing } = settings;
  if (cached === undefined || cached.version !== series.version) return null;
  if ((cached.smoothing?.weight ?? 0) !== smoothing) return null;
  return cached.axis === axis && canGrow(cached.thinned.grid, grid)
    ? cached
    : { ...cached, axis, ...cutAgain(series, settings, grid) };
}

function start(series: ChartSeries, settings: LineSettings, grid: BucketGrid): Cached {
  const { axis, smoothing: weight } = settings;
  const smoothing = weight > 0 ? new DebiasedSmoothing(weight) : null;
  return { version: series.version, axis, smoothing, ...cutAgain(series, settings, grid) };
}

function cutAgain(
  series: ChartSeries,
  { smoothing }: LineSettings,
  grid: BucketGrid,
): Pick<Cached, 'thinned' | 'raw' | 'band'> {
  const band = series.band === undefined ? null : { lower: new ThinnedLine(grid), upper: new ThinnedLine(grid) };
  const raw = smoothing > 0 && series.role !== 'rank' ? new ThinnedLine(grid) : null;
  return { thinned: new ThinnedLine(grid), raw, band };
}

function extend(cached: Cached, series: ChartSeries, x: Column, grid: BucketGrid): PreparedLine {
  const y = cached.smoothing?.extend(series.y, series.length) ?? series.y;
  const { thinned, raw, band } = cached;
  thinned.extend(x, y, series.length, grid);
  raw?.extend(x, series.y, series.length, grid);
  if (band !== null && series.band !== undefined) {
    band.lower.extend(x, series.band.lower, series.length, grid);
    band.upper.extend(x, series.band.upper, series.length, grid);
  }
  return { series, x, y, thinned, raw, band };
}
