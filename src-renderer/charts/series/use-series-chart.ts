import { useIntersectionObserver } from '@vueuse/core';
import { onBeforeUnmount, onMounted, onScopeDispose, type Ref, type ShallowRef, shallowRef, watch } from 'vue';
import { SeriesLines } from '../series-lines.ts';
import type { Palette } from '../scene/line-style.ts';
import { placeIn, type PlotArea } from '../scene/plot.ts';
import { composeScene, type Scene } from '../scene/scene.ts';
import { drawScene, onThemeChange, readPalette } from '../scene/draw-scene.ts';
import type { SeriesChartProps } from '../types.ts';
import {
  Chart,
  type ChartOptions,
  Legend,
  LinearScale,
  LogarithmicScale,
  PointElement,
  ScatterController,
  Tooltip,
} from 'chart.js';
import { applyScene, chartOptions, type Mark, marksDataset, marksOf, type Shown } from '../scene/chart-config.ts';

/** What is on the canvas, and where. */
export interface Drawn {
  scene: Scene;
  area: PlotArea;
  palette: Palette;
}

type CanvasRef = Readonly<Ref<HTMLCanvasElement | null>>;

/** What longer labels of an axis may take from a plot without another drawing, in pixels. */
const resizeTolerance = 40;

/** What axes take before their first layout, in pixels. */
const axisRoom = { width: 50, height: 45 };

/**
 * Keeps a canvas showing a chart's properties: at once when a user acts, about ten times a second when data arrives.
 */
export function useSeriesChart(canvas: CanvasRef, props: SeriesChartProps): Readonly<ShallowRef<Drawn | null>> {
  const drawn = shallowRef<Drawn | null>(null);
  const lines = new SeriesLines();
  const frames = useFrames(draw);
  const isOnScreen = useSight(canvas, frames);
  const palette = usePalette(canvas, frames);
  let chart: SceneCanvas | null = null;

  function draw(): void {
    const element = canvas.value;
    if (element === null || !isOnScreen.value) return;
    const colors = palette();
    const size = plotSize(element, drawn.value);
    const scene = composeScene(props, lines, size);
    if (chart === null) chart = new SceneCanvas(element, scene, colors, () => frames.soon());
    else chart.show(scene, colors);
    drawn.value = { scene, area: chart.area, palette: colors };
    // The element was resized: ticks and buckets were chosen for its old width.
    if (Math.abs(plotSize(element, drawn.value).width - size.width) > resizeTolerance) frames.soon();
  }

  watch(
    () => [props.series, props.markers, props.bands, props.events],
    () => frames.later(),
  );
  watch(
    () => [props.isLinear, props.yLabel, ...drawnState(props)],
    () => frames.soon(),
  );
  onMounted(draw);
  onBeforeUnmount(() => chart?.destroy());
  return drawn;
}

/** Whether the canvas is in view. A chart that is scrolled away is not drawn until it comes back. */
function useSight(canvas: CanvasRef, frames: Frames): Readonly<Ref<boolean>> {
  const isOnScreen = shallowRef(true);
  useIntersectionObserver(canvas, (entries) => {
    isOnScreen.value = entries.some(({ isIntersecting }) => isIntersecting);
    if (isOnScreen.value) frames.soon();
  });
  return isOnScreen;
}

/** The theme's colours at the canvas, read again only when the theme has changed. */
function usePalette(canvas: CanvasRef, frames: Frames): () => Palette {
  let palette: Palette | null = null;
  const stop = onThemeChange(() => {
    palette = null;
    frames.soon();
  });
  onBeforeUnmount(stop);
  return () => (palette ??= readPalette(canvas.value?.parentElement ?? document.body));
}

/** The part of the view that changes the canvas. The cursor is not part of it, because it moves above the canvas. */
function drawnState({ view }: SeriesChartProps): unknown[] {
  const { axis, logX, logY, smoothing, clipsOutliers, zoom, hiddenRanks, hoveredRank } = view;
  return [axis, logX, logY, smoothing, clipsOutliers, zoom, hiddenRanks, hoveredRank];
}

function plotSize(canvas: HTMLCanvasElement, drawn: Drawn | null): { width: number; height: number } {
  if (drawn === null) {
    return { width: canvas.clientWidth - axisRoom.width, height: canvas.clientHeight - axisRoom.height };
  }
  const { left, right, top, bottom } = drawn.area;
  return { width: right - left, height: bottom - top };
}

/** New points are drawn about ten times a second. More often would show nothing more and slow down training. */
const dataIntervalMs = 95;

interface Frames {
  /** Requests a drawing because data arrived. */
  later(): void;
  /** Requests a drawing in the next frame, because a user waits for it. */
  soon(): void;
}

/** Calls `draw` in animation frames, once for all requests. */
function useFrames(draw: () => void): Frames {
  let handle = 0;
  let isUrgent = false;
  let drawnAtMs = -Infinity;

  function frame(nowMs: number): void {
    handle = 0;
    if (!isUrgent && nowMs - drawnAtMs < dataIntervalMs) {
      later();
      return;
    }
    isUrgent = false;
    drawnAtMs = nowMs;
    draw();
  }
  function later(): void {
    if (handle === 0) handle = requestAnimationFrame(frame);
  }
  function soon(): void {
    isUrgent = true;
    later();
  }
  onScopeDispose(() => cancelAnimationFrame(handle));
  return { later, soon };
}

Chart.register(LinearScale, LogarithmicScale, ScatterController, PointElement, Legend, Tooltip);

/**
 * A canvas that shows scenes. Chart.js lays out and draws the axes, the legend and the tooltips of marks. The rest is
 * ours:
 * - Lines: Chart.js keeps an object for each point and updates all of them in each frame. A live chart draws 17 lines
 *   of thousands of points ten times a second, straight from thinned typed arrays.
 * - Values at the cursor: one cursor moves through all charts, by pointer or by keys, and tooltips would cover the
 *   lines. The values stand beside the titles, and in a box beside the chart that is read.
 * - Ticks: d3 chooses them for the canvas and for the exported SVG, which Chart.js cannot draw, so that both agree.
 */
class SceneCanvas {
  readonly #shown: Shown;
  readonly #canvas: HTMLCanvasElement;
  readonly #fontFamily: string;
  readonly #options: ChartOptions<'scatter'>;
  readonly #marks = marksDataset();
  readonly #chart: Chart<'scatter', Mark[]>;

  constructor(canvas: HTMLCanvasElement, scene: Scene, palette: Palette, resized: () => void) {
    this.#canvas = canvas;
    this.#fontFamily = getComputedStyle(canvas).fontFamily;
    this.#shown = { scene, palette, width: canvas.clientWidth };
    this.#options = chartOptions(this.#shown, this.#fontFamily);
    this.#apply();
    const sceneDrawing = {
      id: 'scene',
      beforeDatasetsDraw: (chart: Chart) => this.#draw(chart.ctx, chart.chartArea),
      resize: resized,
    };
    this.#chart = new Chart<'scatter', Mark[]>(canvas, {
      type: 'scatter',
      data: { datasets: [this.#marks] },
      options: this.#options,
      plugins: [sceneDrawing],
    });
  }

  get area(): PlotArea {
    const { left, top, right, bottom } = this.#chart.chartArea;
    return { left, top, right, bottom };
  }

  show(scene: Scene, palette: Palette): void {
    Object.assign(this.#shown, { scene, palette, width: this.#canvas.clientWidth });
    this.#apply();
    this.#chart.update('none');
  }

  destroy(): void {
    this.#chart.destroy();
  }

  #apply(): void {
    applyScene(this.#options, this.#shown);
    this.#marks.data = marksOf(this.#shown.scene);
  }

  #draw(canvas: CanvasRenderingContext2D, area: PlotArea): void {
    const { scene, palette, width } = this.#shown;
    canvas.font = `12px ${this.#fontFamily}`;
    drawScene(canvas, { scene, area, place: placeIn(scene, area), palette }, width);
  }
}
