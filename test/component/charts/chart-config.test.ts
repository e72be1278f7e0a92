import { expect, it } from 'vitest';
import { SeriesLines } from '../../../src-renderer/charts/series-lines.ts';
import { applyScene, chartOptions, marksOf } from '../../../src-renderer/charts/scene/chart-config.ts';
import { composeScene } from '../../../src-renderer/charts/scene/scene.ts';
import type { ChartSeries, ChartView, SeriesChartProps } from '../../../src-renderer/charts/types.ts';
import { lineOf, plainView, rankLine } from '../../unit/charts/lines.ts';

const palette = { text: 'ink', 'text-muted': 'grey', border: '', surface: '', accent: '', warn: '' };
const variant = lineOf([2, 2], { id: 'product', label: 'product of experts', role: 'variant' });

function shown(
  series: readonly ChartSeries[],
  view: Partial<ChartView> = {},
  marks: Pick<SeriesChartProps, 'markers' | 'events'> = {},
) {
  const props = { title: 'NLL', runName: 'run', yLabel: 'nats', series, view: plainView(view), ...marks };
  const scene = composeScene(props, new SeriesLines(), { width: 400, height: 200 });
  const options = chartOptions({ scene, palette, width: 400 }, 'sans-serif');
  applyScene(options, { scene, palette, width: 400 });
  return { scene, options };
}

it('gives Chart.js the limits and kinds of both axes', () => {
  const { options } = shown([lineOf([1, 10, 100])], { logX: true, logY: true });
  // Step 0 has no place on the axis. The values 10 and 100 have 5 % of a decade at both ends.
  expect(options.scales?.x).toMatchObject({
    type: 'logarithmic',
    min: 1,
    max: 2,
    title: { display: true, text: 'step' },
  });
  expect(options.scales?.y).toMatchObject({ type: 'logarithmic', title: { display: false } });
  expect(options.scales?.y?.min).toBeCloseTo(10 ** 0.95, 9);
  expect(options.scales?.y?.max).toBeCloseTo(10 ** 2.05, 9);
  expect(shown([lineOf([1, 3])]).options.scales?.y).toMatchObject({ type: 'linear', min: 0.9, max: 3.1 });
});

it('shows a legend where several lines have no rank', () => {
  const isShown = (...series: ChartSeries[]) => shown(series).options.plugins?.legend?.display;
  expect(isShown(lineOf([1, 2]), rankLine(1, [1, 2]))).toBe(false);
  expect(isShown(lineOf([1, 2]), variant)).toBe(true);
});

it('has a tooltip for each optimum and event within the axes', () => {
  const at = (step: number) => ({ step, epoch: null, time: null });
  const { scene } = shown(
    [lineOf([4, 2, 1])],
    { zoom: { from: 0, to: 1 } },
    {
      markers: [
        { seriesId: 'line', x: at(1), y: 2, label: 'best' },
        { seriesId: 'line', x: at(2), y: 1, label: 'beyond' },
      ],
      events: [
        { x: at(0), label: 'paused' },
        { x: at(2), label: 'later' },
      ],
    },
  );
  expect(marksOf(scene)).toEqual([
    { x: 1, y: 2, label: 'best' },
    { x: 0, y: scene.y.to, label: 'paused' },
  ]);
});
