import type { Envelope, ThinnedLine } from '../buckets.ts';
import { endLabels, endStroke } from './end-labels.ts';
import { PixelColumns } from './pixel-columns.ts';
import type { LineStyle } from '../types.ts';
import { isDenseLine, type Pen, type Place, type PlotArea, tracePath } from './plot.ts';
import { type Drawing, markerPoints, membersOpacity, membersOutline, strokesOf, visibleMarkers } from './scene.ts';
import { hues, type Palette } from './line-style.ts';

type Canvas = CanvasRenderingContext2D;

/**
 * Draws everything inside the axes, and the names of lines beside them.
 * @param width of the canvas, in pixels of CSS
 */
export function drawScene(canvas: Canvas, drawing: Drawing, width: number): void {
  canvas.save();
  clip(canvas, drawing.area);
  drawBands(canvas, drawing);
  drawAreas(canvas, drawing);
  drawMembers(canvas, drawing);
  drawEvents(canvas, drawing);
  drawLines(canvas, drawing);
  canvas.restore();
  drawMarkers(canvas, drawing);
  drawEndLabels(canvas, drawing, width);
}

/**
 * Clips to whole device pixels: a rasteriser without a GPU takes three times as long when a border cuts through pixels.
 * Rounds outward, because lines begin and end at the borders.
 */
function clip(canvas: Canvas, { left, top, right, bottom }: PlotArea): void {
  const ratio = deviceRatio(canvas);
  const [fromX, fromY] = [Math.floor(left * ratio) / ratio, Math.floor(top * ratio) / ratio];
  const [toX, toY] = [Math.ceil(right * ratio) / ratio, Math.ceil(bottom * ratio) / ratio];
  canvas.beginPath();
  canvas.rect(fromX, fromY, toX - fromX, toY - fromY);
  canvas.clip();
}

function drawBands(canvas: Canvas, { scene, area, place: { x }, palette }: Drawing): void {
  canvas.globalAlpha = 0.12;
  canvas.fillStyle = palette.warn;
  for (const { from, to } of scene.bands) {
    canvas.fillRect(x(from), area.top, x(to) - x(from), area.bottom - area.top);
  }
}

function drawEvents(canvas: Canvas, { scene, area, place, palette }: Drawing): void {
  canvas.lineWidth = 1;
  canvas.globalAlpha = 0.7;
  canvas.strokeStyle = palette['text-muted'];
  canvas.setLineDash([1, 3]);
  for (const event of scene.events) {
    canvas.beginPath();
    canvas.moveTo(place.x(event.x), area.top);
    canvas.lineTo(place.x(event.x), area.bottom);
    canvas.stroke();
  }
  canvas.setLineDash([]);
}

function drawAreas(canvas: Canvas, { scene, area, place, palette }: Drawing): void {
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

/** The band of many members in the colour of quiet text, behind all lines. */
function drawMembers(canvas: Canvas, { scene: { members }, place, palette }: Drawing): void {
  if (members === null) return;
  canvas.globalAlpha = membersOpacity;
  canvas.fillStyle = canvas.strokeStyle = palette['text-muted'];
  canvas.beginPath();
  traceArea(members, place, canvas);
  canvas.fill();
  // Members that agree have a band without height.
  canvas.globalAlpha = membersOutline;
  canvas.lineWidth = 1;
  canvas.stroke();
}

function traceArea({ upper, lower }: Envelope, { x, y }: Place, pen: Pen): void {
  for (let index = 0; index < upper.count; index++) pen.lineTo(x(upper.x[index]), y(upper.y[index]));
  for (let index = lower.count - 1; index >= 0; index--) pen.lineTo(x(lower.x[index]), y(lower.y[index]));
}

function drawLines(canvas: Canvas, { scene, area, place, palette }: Drawing): void {
  canvas.lineJoin = 'round';
  for (const { thinned, style } of strokesOf(scene)) {
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
  place: Place,
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

/** Device pixels per unit of the canvas. */
function deviceRatio(canvas: Canvas): number {
  return canvas.getTransform().a;
}

/** Draws the markers whose tips are in the plot; they may extend over its border. */
function drawMarkers(canvas: Canvas, drawing: Drawing): void {
  const { palette } = drawing;
  canvas.save();
  canvas.lineWidth = 1;
  canvas.strokeStyle = palette.surface;
  for (const marker of visibleMarkers(drawing.scene)) {
    canvas.globalAlpha = Math.max(marker.style.opacity, 0.8);
    canvas.fillStyle = palette[marker.style.color];
    canvas.beginPath();
    for (const [left, top] of markerPoints(marker, drawing.place)) canvas.lineTo(left, top);
    canvas.closePath();
    canvas.fill();
    canvas.stroke();
  }
  canvas.restore();
}

/** Each name after a stroke in the colour of its line, from where the line ends. */
function drawEndLabels(canvas: Canvas, drawing: Drawing, width: number): void {
  const { area, palette } = drawing;
  canvas.save();
  canvas.textBaseline = 'middle';
  canvas.lineWidth = 1.5;
  for (const { text, from, middle, style } of endLabels(drawing, width)) {
    canvas.globalAlpha = style.opacity;
    canvas.strokeStyle = palette[style.color];
    canvas.beginPath();
    canvas.moveTo(area.right + endStroke.start, from);
    canvas.lineTo(area.right + endStroke.end, middle);
    canvas.stroke();
    canvas.fillStyle = palette[style.color === 'text' ? 'text' : 'text-muted'];
    canvas.fillText(text, area.right + endStroke.text, middle);
  }
  canvas.restore();
}

const tokens = [
  'text',
  'text-muted',
  'border',
  'surface',
  'accent',
  'warn',
  ...Array.from({ length: hues }, (_, hue) => `rank-${hue}` as const),
] as const;

/** The current values of the theme's variables at an element. */
export function readPalette(element: Element): Palette {
  // A variable's text may be `light-dark(...)`, which a canvas does not understand. A colour set from it is resolved.
  const probe = element.ownerDocument.createElement('span');
  element.append(probe);
  const style = getComputedStyle(probe);
  const colors = tokens.map((token) => {
    probe.style.color = `var(--${token})`;
    return [token, style.color];
  });
  probe.remove();
  return Object.fromEntries(colors);
}

/** Calls back when the system's or the page's theme changes, until the returned function is called. */
export function onThemeChange(changed: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const page = new MutationObserver(changed);
  system.addEventListener('change', changed);
  page.observe(document.documentElement, { attributes: true });
  return () => {
    system.removeEventListener('change', changed);
    page.disconnect();
  };
}
