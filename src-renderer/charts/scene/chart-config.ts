import type { ChartDataset, ChartOptions, LegendItem } from 'chart.js';
import { endLabelRoom, namesAllEnds } from './end-labels.ts';
import type { Palette } from './line-style.ts';
import { type Scene, type SceneLine, visibleMarkers } from './scene.ts';

/** What is on a canvas now. */
export interface Shown {
  scene: Scene;
  palette: Palette;
  /** Of the canvas, in pixels of CSS. */
  width: number;
}

/** What a tooltip explains: the best point of a line, or an event at the upper end of its line. */
export interface Mark {
  x: number;
  y: number;
  label: string;
}

type Options = ChartOptions<'scatter'>;
type AxisOptions = NonNullable<NonNullable<Options['scales']>[string]>;
type PluginOptions = NonNullable<Options['plugins']>;

/** Room on the right for half a marker at the last point, in pixels. */
const markerRoom = 8;
/** The space of the rail of events above the plot. */
const railRoom = 20;
/** How near the pointer must come to a mark for its tooltip, in pixels. */
const pointHitRadius = 10;

/** Marks have no radius, as the scene draws them: Chart.js only finds the one under the pointer. */
export function marksDataset(): ChartDataset<'scatter', Mark[]> {
  return { data: [], parsing: false, pointRadius: 0, pointHoverRadius: 0, pointHitRadius };
}

/** The marks within the axes. */
export function marksOf(scene: Scene): Mark[] {
  const { x, y, events } = scene;
  const visible = events.filter((event) => event.x >= x.from && event.x <= x.to);
  return [
    ...visibleMarkers(scene).map((marker) => ({ x: marker.x, y: marker.y, label: marker.label })),
    ...visible.map((event) => ({ x: event.x, y: y.to, label: event.label })),
  ];
}

/**
 * What Chart.js draws around the lines: axes, the legend of lines without a rank, tooltips of marks. The options are
 * made once, because new ones are slow in every frame. Most are functions of what is shown; `applyScene` sets those
 * that cannot be functions.
 *
 * @param fontFamily of the page, which a canvas does not inherit
 */
export function chartOptions(shown: Readonly<Shown>, fontFamily: string): Options {
  const font = { family: fontFamily, size: 12 };
  return {
    animation: false,
    maintainAspectRatio: false,
    events: ['mousemove', 'mouseout'],
    interaction: { mode: 'point' },
    layout: { padding: { right: markerRoom, top: railRoom } },
    font,
    scales: { x: axisOptions('x', shown, font), y: axisOptions('y', shown, font) },
    plugins: { legend: legendOptions(shown, font), tooltip: { ...tooltipOptions(shown), bodyFont: font } },
  };
}

/**
 * Sets what changes from scene to scene: the axes' kinds, limits and titles, the room for names, and whether a legend
 * is needed.
 */
export function applyScene(
  { scales, plugins, font, layout }: Options,
  { scene, palette, width }: Readonly<Shown>,
): void {
  for (const name of ['x', 'y'] as const) {
    const { from, to, isLog, label } = scene[name];
    // The unit of y stands beside the chart's heading.
    const title = { display: name === 'x', text: label, color: palette['text-muted'], padding: 0, font };
    Object.assign(scales?.[name] ?? {}, { type: isLog ? 'logarithmic' : 'linear', min: from, max: to, title });
  }
  Object.assign(layout?.padding ?? {}, { right: Math.max(markerRoom, endLabelRoom(scene.lines, width)) });
  const named = namedLines(scene);
  Object.assign(plugins?.legend ?? {}, { display: named.length > 1 && !namesAllEnds(named, width) });
}

/** Axes and legend do not inherit the chart's font. */
interface Font {
  family: string;
  size: number;
}

function axisOptions(name: 'x' | 'y', shown: Readonly<Shown>, font: Font): AxisOptions {
  return {
    bounds: 'data',
    afterBuildTicks: (scale) => {
      scale.ticks = shown.scene[name].ticks.map(({ value }) => ({ value }));
    },
    ticks: {
      autoSkip: false,
      maxRotation: 0,
      font,
      color: () => shown.palette['text-muted'],
      callback: (_value, index) => shown.scene[name].ticks[index].label,
    },
    grid: { color: () => shown.palette.border, drawTicks: false },
    border: { display: false },
  };
}

/** Lines without a rank. The others have their legend on the page, for all charts. */
function namedLines({ lines }: Scene): SceneLine[] {
  return lines.filter(({ series }) => series.rank === undefined);
}

function legendOptions(shown: Readonly<Shown>, font: Font): PluginOptions['legend'] {
  const items = (): LegendItem[] =>
    namedLines(shown.scene).map(({ series, style }) => ({
      text: series.label,
      fontColor: shown.palette['text-muted'],
      strokeStyle: shown.palette[style.color],
      lineWidth: style.width,
      lineDash: [...style.dash],
      pointStyle: 'line',
    }));
  return {
    align: 'start',
    labels: { font, generateLabels: items, usePointStyle: true, pointStyleWidth: 20, boxHeight: 8, padding: 8 },
  };
}

function tooltipOptions(shown: Readonly<Shown>): PluginOptions['tooltip'] {
  return {
    displayColors: false,
    backgroundColor: () => shown.palette.surface,
    borderColor: () => shown.palette.border,
    borderWidth: 1,
    bodyColor: () => shown.palette.text,
    callbacks: { title: () => '', label: ({ raw }) => (isMark(raw) ? raw.label : '') },
  };
}

function isMark(raw: unknown): raw is Mark {
  return typeof raw === 'object' && raw !== null && 'label' in raw;
}
