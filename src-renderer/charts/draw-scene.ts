import type { Palette } from './line-style.ts';
import { noteHeight, placeNotes } from './notes.ts';
import { isDenseLine, type Pen, pixels, type PlotArea, tracePath } from './plot-area.ts';
import { fractionOf } from './scale.ts';
import { backToFront, type Scene } from './scene.ts';

type Canvas = CanvasRenderingContext2D;

/** Draws all of a scene but its axes. */
export function drawScene(canvas: Canvas, scene: Scene, area: PlotArea, palette: Palette): void {
  canvas.save();
  canvas.beginPath();
  canvas.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
  canvas.clip();
  drawBands(canvas, scene, area, palette);
  drawAreas(canvas, scene, area, palette);
  drawEvents(canvas, scene, area, palette);
  drawLines(canvas, scene, area, palette);
  drawNotes(canvas, scene, area, palette);
  canvas.restore();
  drawMarkers(canvas, scene, area, palette);
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
  const [x, y] = [pixels(scene.x, area.left, area.right), pixels(scene.y, area.bottom, area.top)];
  for (const { band, style } of scene.lines) {
    if (band === null) continue;
    canvas.globalAlpha = 0.15;
    canvas.fillStyle = palette[style.color];
    canvas.beginPath();
    for (let index = 0; index < band.upper.count; index++)
      canvas.lineTo(x(band.upper.x[index]), y(band.upper.y[index]));
    for (let index = band.lower.count - 1; index >= 0; index--) {
      canvas.lineTo(x(band.lower.x[index]), y(band.lower.y[index]));
    }
    canvas.fill();
  }
}

function drawLines(canvas: Canvas, scene: Scene, area: PlotArea, palette: Palette): void {
  const [x, y] = [pixels(scene.x, area.left, area.right), pixels(scene.y, area.bottom, area.top)];
  canvas.lineJoin = 'round';
  for (const { thinned, style } of backToFront(scene.lines)) {
    const isDense = isDenseLine(thinned.count, area);
    canvas.globalAlpha = style.opacity;
    canvas.strokeStyle = palette[style.color];
    canvas.lineWidth = style.width;
    canvas.setLineDash(isDense ? [] : [...style.dash]);
    canvas.beginPath();
    const pen = isDense && style.width > 1 ? new SegmentPen(canvas) : canvas;
    tracePath(thinned, { x, y, columnDash: isDense ? style.dash : [] }, pen);
    if (pen === canvas) canvas.stroke();
  }
  canvas.setLineDash([]);
}

/**
 * Strokes each segment by itself. A wide line that crosses itself thousands of times takes a software rasteriser 30 ms as one
 * path, and 1 ms in pieces.
 */
class SegmentPen implements Pen {
  #canvas: Canvas;
  #x = 0;
  #y = 0;

  constructor(canvas: Canvas) {
    this.#canvas = canvas;
  }

  moveTo(x: number, y: number): void {
    this.#x = x;
    this.#y = y;
  }

  lineTo(x: number, y: number): void {
    this.#canvas.beginPath();
    this.#canvas.moveTo(this.#x, this.#y);
    this.#canvas.lineTo(x, y);
    this.#canvas.stroke();
    this.moveTo(x, y);
  }
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
