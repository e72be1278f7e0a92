import { onBeforeUnmount, onMounted, type Ref, type ShallowRef, shallowRef, watch } from 'vue';
import type { Palette } from '../scene/line-style.ts';
import type { PlotArea } from '../scene/plot.ts';
import { SceneCanvas } from '../scene/scene-canvas.ts';
import { composeScene, type Scene } from '../scene/scene.ts';
import { SeriesLines } from '../points/series-lines.ts';
import { onThemeChange, readPalette } from '../scene/theme.ts';
import type { SeriesChartProps } from '../types.ts';
import { useFrames } from '../use-frames.ts';

/** What stands on the canvas, and where. */
export interface Drawn {
  scene: Scene;
  area: PlotArea;
  palette: Palette;
}

/** What axes take before they have been laid out. */
const axisRoom = { width: 50, height: 45 };

/** Keeps a canvas showing a chart's properties: at once when someone acts, some ten times a second when data comes. */
export function useSeriesChart(
  canvas: Readonly<Ref<HTMLCanvasElement | null>>,
  props: SeriesChartProps,
): Readonly<ShallowRef<Drawn | null>> {
  const drawn = shallowRef<Drawn | null>(null);
  const lines = new SeriesLines();
  const frames = useFrames(draw);
  let chart: SceneCanvas | null = null;
  let palette: Palette | null = null;
  let isOnScreen = true;

  function draw(): void {
    const element = canvas.value;
    if (element === null || !isOnScreen) return;
    palette ??= readPalette(element.parentElement ?? document.body);
    const scene = composeScene(props, lines, plotSize(element, drawn.value));
    if (chart === null) chart = new SceneCanvas(element, scene, palette, () => frames.soon());
    else chart.show(scene, palette);
    drawn.value = { scene, area: chart.area, palette };
  }

  /** What is scrolled away is not drawn until it comes back. */
  const sight = new IntersectionObserver((entries) => {
    isOnScreen = entries.some(({ isIntersecting }) => isIntersecting);
    if (isOnScreen) frames.soon();
  });
  const stopTheme = onThemeChange(() => {
    palette = null;
    frames.soon();
  });
  watch(
    () => [props.series, props.markers, props.bands, props.events],
    () => frames.later(),
  );
  watch(
    () => [props.isLinear, props.yLabel, ...drawnState(props)],
    () => frames.soon(),
  );
  onMounted(() => {
    draw();
    if (canvas.value !== null) sight.observe(canvas.value);
  });
  onBeforeUnmount(() => {
    stopTheme();
    sight.disconnect();
    chart?.destroy();
  });
  return drawn;
}

/** All of the view that changes what is on the canvas: the cursor is none of it, as it moves above. */
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
