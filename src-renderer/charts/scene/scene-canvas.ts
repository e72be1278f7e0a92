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
import { applyScene, chartOptions, type Mark, marksDataset, marksOf, type Shown } from './chart-config.ts';
import { drawScene } from './draw-scene.ts';
import type { Palette } from './line-style.ts';
import { placeIn, type PlotArea } from './plot.ts';
import type { Scene } from './scene.ts';

Chart.register(LinearScale, LogarithmicScale, ScatterController, PointElement, Legend, Tooltip);

/**
 * A canvas that shows scenes. Chart.js lays out and draws the axes, the legend and the tooltips of marks. The rest is ours:
 * - Lines: Chart.js keeps an object for each point and updates all of them in each frame. A live chart draws 17 lines of thousands
 *   of points ten times a second, straight from thinned typed arrays.
 * - Values at the cursor: one cursor moves through all charts, by pointer or by keys, and tooltips would cover the lines. The values
 *   stand beside the titles, and in a box beside the chart that is read.
 * - Ticks: d3 chooses them for the canvas and for the exported SVG, which Chart.js cannot draw, so that both agree.
 */
export class SceneCanvas {
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
