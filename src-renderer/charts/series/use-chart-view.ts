import { reactive, watch } from 'vue';
import type { ChartView, ChartViewState } from '../types.ts';

/** The view that all charts of a page share. Another axis has other units, so zoom and cursor end with the axis they belong to. */
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
