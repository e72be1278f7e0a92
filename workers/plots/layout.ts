import { type Axis, createAxis, type Numbers, type Range, rangeOf, type Tick } from './axis.ts';
import type { Figure, Panel } from './figure.ts';
import { type BarsMark, columnsOf } from './marks.ts';
import { LINE_HEIGHT, textWidth } from './text.ts';

/** The layout of a figure, in px. Plot areas of a row share their top and bottom, those of a column their sides. */

export const FIGURE_TITLE_SIZE = 15;
export const PANEL_TITLE_SIZE = 12;
export const LABEL_SIZE = 11;
export const TICK_SIZE = 10;
/** The gap between the plot area and its tick labels. */
export const TICK_GAP = 6;

const PADDING = 12;
const PANEL_GAP = 20;
const FIGURE_TITLE_HEIGHT = 28;
const PANEL_TITLE_HEIGHT = 22;
/** Space for half a tick label that extends beyond the plot area on the right and on top. */
const OVERHANG = 12;
const AXIS_LABEL_HEIGHT = 20;
const SMALLEST_PLOT = 24;
const SMALLEST_LABEL_SIZE = 6;
const TICK_SPACING = { x: 55, y: 42 };

/** A panel's plot area and axes. */
export interface PanelLayout {
  panel: Panel;
  left: number;
  top: number;
  width: number;
  height: number;
  xAxis: Axis;
  yAxis: Axis;
  xTickSize: number;
  /** The distance from the plot area's left edge to the baseline of the (rotated) y label. */
  yLabelOffset: number;
  /** The distance from the plot area's lower edge to the baseline of the x label. */
  xLabelOffset: number;
}

/** @throws Error if the labels leave no room for a panel's plot area */
export function layOut(figure: Figure): PanelLayout[] {
  const { rows, columns, panels } = figure;
  const titleHeight = figure.title === undefined ? 0 : FIGURE_TITLE_HEIGHT;
  const cellWidth = (figure.width - 2 * PADDING - (columns - 1) * PANEL_GAP) / columns;
  const cellHeight = (figure.height - 2 * PADDING - titleHeight - (rows - 1) * PANEL_GAP) / rows;
  const cells = panels.map((panel, index) => ({ panel, row: Math.floor(index / columns), column: index % columns }));

  const topOf = (row: number): number => Math.max(...cells.filter((cell) => cell.row === row).map(topMargin));
  const bottomOf = (row: number): number => Math.max(...cells.filter((cell) => cell.row === row).map(bottomMargin));
  const vertical = cells.map((cell) => {
    const height = cellHeight - topOf(cell.row) - bottomOf(cell.row);
    const yAxis = createYAxis(cell.panel, height);
    const top = PADDING + titleHeight + cell.row * (cellHeight + PANEL_GAP) + topOf(cell.row);
    return { ...cell, top, height, yAxis, leftMargin: leftMargin(cell.panel, yAxis) };
  });

  return vertical.map(({ panel, column, top, height, yAxis }) => {
    const margin = Math.max(...vertical.filter((cell) => cell.column === column).map((cell) => cell.leftMargin));
    const left = PADDING + column * (cellWidth + PANEL_GAP) + margin;
    const width = cellWidth - margin - OVERHANG;
    checkRoom(panel, width, height);
    return {
      panel,
      left,
      top,
      width,
      height,
      yAxis,
      xAxis: createXAxis(panel, width),
      xTickSize: xTickSize(panel, width),
      yLabelOffset: margin - LABEL_SIZE,
      xLabelOffset: bottomMargin({ panel }) - (AXIS_LABEL_HEIGHT - LABEL_SIZE) / 2,
    };
  });
}

function topMargin({ panel }: { panel: Panel }): number {
  return panel.title === undefined ? OVERHANG : PANEL_TITLE_HEIGHT;
}

function bottomMargin({ panel }: { panel: Panel }): number {
  const lines = Math.max(
    1,
    ...categoryBars(panel).flatMap(({ labels }) => labels.map((label) => label.split('\n').length)),
  );
  return TICK_GAP + lines * TICK_SIZE * LINE_HEIGHT + (panel.xLabel === undefined ? 0 : AXIS_LABEL_HEIGHT);
}

function leftMargin(panel: Panel, yAxis: Axis): number {
  const widest = Math.max(0, ...yAxis.ticks.map(({ label }) => textWidth(label, TICK_SIZE)));
  return TICK_GAP + widest + (panel.yLabel === undefined ? 0 : AXIS_LABEL_HEIGHT);
}

function createYAxis(panel: Panel, height: number): Axis {
  const { yScale = 'linear', marks } = panel;
  const range =
    panel.yRange ??
    rangeOf(
      yScale,
      marks.flatMap((mark) => columnsOf(mark).y),
      yRoom(panel),
    );
  return createAxis(yScale, range, tickCount(height, TICK_SPACING.y));
}

function createXAxis(panel: Panel, width: number): Axis {
  const { xScale = 'linear', marks } = panel;
  const columns = marks.flatMap((mark) => columnsOf(mark).x);
  const range = panel.xRange ?? rangeOf(xScale, columns, [0.03, 0.03]);
  // Ticks only at whole epochs.
  const smallestStep = columns.every((column) => Array.from(column).every(Number.isInteger)) ? 1 : 0;
  const axis = createAxis(xScale, range, tickCount(width, TICK_SPACING.x), smallestStep);
  const categories = categoryBars(panel)
    .flatMap(categoryTicks)
    .filter(({ value }) => Number.isFinite(axis.fraction(value)));
  return categories.length > 0 ? { ...axis, ticks: categories } : axis;
}

/** The range of values of bars: they start at the axis, with room for the value at their end. */
function yRoom({ marks, yScale }: Panel): Range {
  const values = marks.flatMap((mark): Numbers[] => (mark.kind === 'bars' ? [mark.values] : []));
  if (values.length === 0) return [0.05, 0.05];
  const has = (test: (value: number) => boolean): boolean => values.some((column) => Array.from(column).some(test));
  return [yScale === 'log' || has((value) => value < 0) ? 0.12 : 0, has((value) => value > 0) ? 0.12 : 0];
}

function categoryBars({ marks }: Panel): BarsMark[] {
  return marks.filter((mark) => mark.kind === 'bars').filter(({ labels }) => labels.length > 0);
}

function categoryTicks({ positions, labels }: BarsMark): Tick[] {
  return labels.map((label, i) => ({ value: positions[i], label }));
}

/** The font size of bars' names: smaller where the names would overlap. */
function xTickSize(panel: Panel, width: number): number {
  const labels = categoryBars(panel).flatMap((bars) => bars.labels);
  if (labels.length === 0) return TICK_SIZE;
  const widest = Math.max(...labels.map((label) => textWidth(label, 1)));
  const slot = (0.9 * width) / labels.length;
  return Math.max(SMALLEST_LABEL_SIZE, Math.min(TICK_SIZE, Math.floor((2 * slot) / widest) / 2));
}

function tickCount(length: number, spacing: number): number {
  return Math.max(2, Math.floor(length / spacing));
}

function checkRoom(panel: Panel, width: number, height: number): void {
  if (width >= SMALLEST_PLOT && height >= SMALLEST_PLOT) return;
  throw new Error(
    `Panel "${panel.title ?? panel.yLabel ?? ''}" has ${Math.floor(width)} x ${Math.floor(height)} px left to draw ` +
      `in, and needs ${SMALLEST_PLOT} x ${SMALLEST_PLOT}: make the figure larger, or give it fewer rows or columns.`,
  );
}
