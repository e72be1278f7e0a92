import { Chart, LinearScale, type ChartOptions } from 'chart.js';
import { drawScene } from './draw-scene.ts';
import type { Palette } from '../series/line-style.ts';
import type { PlotArea } from './plot-area.ts';
import { fractionOf } from './scale.ts';
import type { Scene } from './scene.ts';

Chart.register(LinearScale);

/** Room for the x axis's label, and for half a marker at the last point, in pixels. */
const padding = { bottom: 16, right: 8 };

/**
 * A canvas that shows scenes. Chart.js lays out and draws the axes; the lines come straight from thinned typed arrays, as
 * Chart.js would keep an object for each of their points and update them all at every step. Its scales span 0
 * to 1: limits, logarithms and ticks are the scene's, so that canvas and SVG agree.
 */
export class SceneCanvas {
  #scene: Scene;
  #palette: Palette;
  #chart: Chart;

  constructor(canvas: HTMLCanvasElement, scene: Scene, palette: Palette, resized: () => void) {
    this.#scene = scene;
    this.#palette = palette;
    this.#chart = new Chart(canvas, {
      type: 'line',
      data: { datasets: [] },
      options: {
        animation: false,
        maintainAspectRatio: false,
        // The page follows the pointer itself: nothing of Chart.js's own has to be found under it.
        events: [],
        onResize: resized,
        layout: { padding },
        font: { family: getComputedStyle(canvas).fontFamily, size: 12 },
        scales: { x: this.#axis('x'), y: this.#axis('y') },
      },
      plugins: [{ id: 'scene', beforeDatasetsDraw: ({ ctx, chartArea }) => this.#draw(ctx, chartArea) }],
    });
  }

  get area(): PlotArea {
    const { left, top, right, bottom } = this.#chart.chartArea;
    return { left, top, right, bottom };
  }

  show(scene: Scene, palette: Palette): void {
    this.#scene = scene;
    this.#palette = palette;
    this.#chart.update('none');
  }

  destroy(): void {
    this.#chart.destroy();
  }

  #draw(canvas: CanvasRenderingContext2D, area: PlotArea): void {
    canvas.fillStyle = this.#palette['text-muted'];
    canvas.textAlign = 'center';
    canvas.textBaseline = 'bottom';
    canvas.fillText(this.#scene.x.label, (area.left + area.right) / 2, canvas.canvas.clientHeight);
    canvas.textAlign = 'start';
    drawScene(canvas, this.#scene, area, this.#palette);
  }

  #axis(name: 'x' | 'y'): NonNullable<ChartOptions<'line'>['scales']>[string] {
    const muted = (): string => this.#palette['text-muted'];
    return {
      type: 'linear',
      min: 0,
      max: 1,
      afterBuildTicks: (scale) => {
        const axis = this.#scene[name];
        scale.ticks = axis.ticks.map(({ value }) => ({ value: fractionOf(axis, value) }));
      },
      ticks: {
        autoSkip: false,
        maxRotation: 0,
        color: muted,
        callback: (_fraction, index) => this.#scene[name].ticks[index].label,
      },
      grid: { color: () => this.#palette.border, drawTicks: false },
      border: { display: false },
    };
  }
}
