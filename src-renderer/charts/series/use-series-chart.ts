import { useIntersectionObserver } from '@vueuse/core';
import { onBeforeUnmount, onMounted, type Ref, type ShallowRef, shallowRef, watch } from 'vue';
import { SeriesLines } from '../points/series-lines.ts';
import type { Palette } from '../scene/line-style.ts';
import type { PlotArea } from '../scene/plot.ts';
import { SceneCanvas } from '../scene/scene-canvas.ts';
import { composeScene, type Scene } from '../scene/scene.ts';
import { onThemeChange, readPalette } from '../scene/theme.ts';
import type { SeriesChartProps } from '../types.ts';
import { type Frames, useFrames } from '../use-frames.ts';

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

/** Keeps a canvas showing a chart's properties: at once when a user acts, about ten times a second when data arrives. */
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
