import { describe, expect, it } from 'vitest';
import { useChartView } from '../../../src-renderer/charts/series/chart-view.ts';

describe('useChartView', () => {
  it('hides a rank, shows it again, and shows all', () => {
    const view = useChartView();
    view.toggleRank(3);
    view.toggleRank(5);
    view.toggleRank(3);
    expect([...view.hiddenRanks]).toEqual([5]);
    view.showAllRanks();
    expect(view.hiddenRanks.size).toBe(0);
  });

  it('ends zoom and cursor with the axis they belong to', () => {
    const view = useChartView({ zoom: { from: 10, to: 20 } });
    view.cursorX = 15;
    view.axis = 'time';
    expect([view.zoom, view.cursorX]).toEqual([null, null]);
  });

  it('restores a whole view from a URL, including the zoom', () => {
    const view = useChartView();
    Object.assign(view, { axis: 'epoch', zoom: { from: 1, to: 2 } });
    expect(view.zoom).toEqual({ from: 1, to: 2 });
  });
});
