import type { ThinnedLine } from '../points/buckets.ts';
import type { LineStyle, Palette } from '../series/line-style.ts';
import { noteHeight, placeNotes } from '../series/notes.ts';
import { PixelColumns } from '../points/pixel-columns.ts';
import { isDenseLine, type Pen, pixels, type PlotArea, tracePath, type Tracing } from './plot-area.ts';
import { fractionOf } from './scale.ts';
import { backToFront, type Scene, type SceneLine } from './scene.ts';

type Canvas = CanvasRenderingContext2D;

/** Draws all of a scene but its axes. */
export function drawScene(canvas: Canvas, scene: Scene, area: PlotArea, palette: Palette): void {
  canvas.save();
  clip(canvas, area);
  drawBands(canvas, scene, area, palette);
  drawAreas(canvas, scene, area, palette);
  drawEvents(canvas, scene, area, palette);
  drawLines(canvas, scene, area, palette);
  drawNotes(canvas, scene, area, palette);
  canvas.restore();
  drawMarkers(canvas, scene, area, palette);
}

/**
 * At whole device pixels, as a rasteriser without a GPU takes three times as long where a border cuts through some, and outward, as
 * lines begin and end at the borders.
 */
function clip(canvas: Canvas, { left, top, right, bottom }: PlotArea): void {
  const ratio = deviceRatio(canvas);
  const [fromX, fromY] = [Math.floor(left * ratio) / ratio, Math.floor(top * ratio) / ratio];
  const [toX, toY] = [Math.ceil(right * ratio) / ratio, Math.ceil(bottom * ratio) / ratio];
  canvas.beginPath();
  canvas.rect(fromX, fromY, toX - fromX, toY - fromY);
  canvas.clip();
}

function drawBands(canvas: Canvas, scene: Scene, area: PlotArea, palette: Palette): void {
  const x = pixels(scene.x, area.left, area.right);
  canvas.globalAlpha = 0.12;
  canvas.fillStyle = palette.warn;
  for (const { from, to } of scene.bands) {
    canvas.fillRect(x(from), area.top, x(to) - x(from), area.bottom - area.top);
  }
}

function drawEvents(canvas: Canvas, scene: Scene, area: PlotArea, palette: Palette): void {
  const x = pixels(scene.x, area.left, area.right);
  canvas.lineWidth = 1;
  for (const event of scene.events) {
    canvas.globalAlpha = 0.7;
    canvas.strokeStyle = palette['text-muted'];
    canvas.setLineDash([1, 3]);
    canvas.beginPath();
    canvas.moveTo(x(event.x), area.top);
    canvas.lineTo(x(event.x), area.bottom);
    canvas.stroke();
  }
  canvas.setLineDash([]);
}

function drawNotes(canvas: Canvas, scene: Scene, area: PlotArea, palette: Palette): void {
  canvas.globalAlpha = 1;
  canvas.fillStyle = palette['text-muted'];
  canvas.textBaseline = 'top';
  for (const { label, left, row } of placeNotes(scene, area))
    canvas.fillText(label, left, area.top + 2 + row * noteHeight);
}

function drawAreas(canvas: Canvas, scene: Scene, area: PlotArea, palette: Palette): void {
  const place = { x: pixels(scene.x, area.left, area.right), y: pixels(scene.y, area.bottom, area.top) };
  canvas.globalAlpha = 0.15;
  for (const { band, style } of scene.lines) {
    if (band === null) continue;
    canvas.fillStyle = canvas.strokeStyle = palette[style.color];
    if (isDenseLine(band.upper.count, area)) {
      strokeColumns(canvas, [band.upper, band.lower], { width: 1, dash: [] }, place, area);
    } else {
      canvas.beginPath();
      traceArea(band, place, canvas);
      canvas.fill();
    }
  }
}

function traceArea({ upper, lower }: NonNullable<SceneLine['band']>, { x, y }: Tracing, pen: Pen): void {
  for (let index = 0; index < upper.count; index++) pen.lineTo(x(upper.x[index]), y(upper.y[index]));
  for (let index = lower.count - 1; index >= 0; index--) pen.lineTo(x(lower.x[index]), y(lower.y[index]));
}

function drawLines(canvas: Canvas, scene: Scene, area: PlotArea, palette: Palette): void {
  const place = { x: pixels(scene.x, area.left, area.right), y: pixels(scene.y, area.bottom, area.top) };
  canvas.lineJoin = 'round';
  for (const { thinned, style } of backToFront(scene.lines)) {
    canvas.globalAlpha = style.opacity;
    canvas.strokeStyle = palette[style.color];
    if (isDenseLine(thinned.count, area)) {
      strokeColumns(canvas, [thinned], style, place, area);
    } else {
      canvas.lineWidth = style.width;
      canvas.setLineDash([...style.dash]);
      canvas.beginPath();
      tracePath(thinned, place, canvas);
      canvas.stroke();
    }
  }
  canvas.setLineDash([]);
}

/** Draws a dense line, or the area between two of them. */
function strokeColumns(
  canvas: Canvas,
  lines: readonly ThinnedLine[],
  style: Pick<LineStyle, 'width' | 'dash'>,
  place: Tracing,
  area: PlotArea,
): void {
  const columns = new PixelColumns(area, deviceRatio(canvas), style);
  for (const line of lines) tracePath(line, place, columns);
  canvas.save();
  canvas.resetTransform();
  canvas.setLineDash([]);
  canvas.lineWidth = 1;
  canvas.beginPath();
  columns.trace(canvas);
  canvas.stroke();
  canvas.restore();
}

/** Device pixels to one of the canvas's units. */
function deviceRatio(canvas: Canvas): number {
  return canvas.getTransform().a;
}

/** Those whose tips are in the plot; they may reach over its border. */
function drawMarkers(canvas: Canvas, scene: Scene, area: PlotArea, palette: Palette): void {
  const [x, y] = [pixels(scene.x, area.left, area.right), pixels(scene.y, area.bottom, area.top)];
  canvas.save();
  canvas.lineWidth = 1;
  canvas.strokeStyle = palette.surface;
  for (const marker of scene.markers) {
    if (fractionOf(scene.x, marker.x) < 0 || fractionOf(scene.x, marker.x) > 1) continue;
    if (fractionOf(scene.y, marker.y) < 0 || fractionOf(scene.y, marker.y) > 1) continue;
    const [tip, size] = [y(marker.y) - 2, marker.style.color === 'text' ? 6 : 4];
    canvas.globalAlpha = Math.max(marker.style.opacity, 0.8);
    canvas.fillStyle = palette[marker.style.color];
    canvas.beginPath();
    canvas.moveTo(x(marker.x), tip);
    canvas.lineTo(x(marker.x) - size, tip - 1.6 * size);
    canvas.lineTo(x(marker.x) + size, tip - 1.6 * size);
    canvas.closePath();
    canvas.fill();
    canvas.stroke();
  }
  canvas.restore();
}
