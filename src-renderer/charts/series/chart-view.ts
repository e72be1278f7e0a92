import { reactive, watch } from 'vue';
import { maximumSmoothing } from '../smoothing.ts';
import type { ChartView, ChartViewState } from '../types.ts';

/** The view that all charts of a page share. Changing the axis resets zoom and cursor, because their units change. */
export function useChartView(initial: Partial<ChartViewState> = {}): ChartView {
  const view: ChartView = reactive({
    axis: 'step',
    logX: false,
    logY: false,
    smoothing: 0,
    clipsOutliers: false,
    zoom: null,
    hiddenRanks: new Set<number>(),
    hoveredRank: null,
    cursorX: null,
    ...initial,
    toggleRank(rank: number) {
      const hidden = new Set(view.hiddenRanks);
      if (!hidden.delete(rank)) hidden.add(rank);
      view.hiddenRanks = hidden;
    },
    showAllRanks() {
      view.hiddenRanks = new Set();
    },
    resetZoom() {
      view.zoom = null;
    },
  });
  watch(
    () => view.axis,
    () => {
      view.zoom = null;
      view.cursorX = null;
    },
    { flush: 'sync' },
  );
  return view;
}

const axes = ['step', 'epoch', 'time'] as const;

/** A view as query parameters, without defaults. */
export function viewToQuery(view: ChartViewState): Record<string, string> {
  const query: Record<string, string> = {};
  if (view.axis !== 'step') query.axis = view.axis;
  const logs = `${view.logX ? 'x' : ''}${view.logY ? 'y' : ''}`;
  if (logs !== '') query.log = logs;
  if (view.smoothing > 0) query.smooth = String(view.smoothing);
  if (view.clipsOutliers) query.clip = '1';
  if (view.zoom !== null) query.zoom = [view.zoom.from, view.zoom.to].map(shorten).join('_');
  if (view.hiddenRanks.size > 0) query.hide = [...view.hiddenRanks].sort((a, b) => a - b).join('.');
  return query;
}

/** Nine digits: less than a pixel at any useful zoom. */
function shorten(value: number): string {
  return String(Number(value.toPrecision(9)));
}

/**
 * The view of an address. A parameter that cannot be parsed gives its default, because addresses may be typed by hand.
 */
export function viewFromQuery(query: Record<string, unknown>): Partial<ChartViewState> {
  const text = (name: string): string => (typeof query[name] === 'string' ? query[name] : '');
  const smoothing = Number(text('smooth'));
  return {
    axis: axes.find((axis) => axis === text('axis')) ?? 'step',
    logX: text('log').includes('x'),
    logY: text('log').includes('y'),
    smoothing: smoothing > 0 && smoothing <= maximumSmoothing ? smoothing : 0,
    clipsOutliers: text('clip') === '1',
    zoom: parseZoom(text('zoom')),
    hiddenRanks: new Set(text('hide').split('.').filter(Boolean).map(Number).filter(Number.isInteger)),
  };
}

function parseZoom(text: string): ChartViewState['zoom'] {
  const [from, to] = text.split('_').map((part) => (part === '' ? NaN : Number(part)));
  return Number.isFinite(from) && Number.isFinite(to) && from < to ? { from, to } : null;
}
