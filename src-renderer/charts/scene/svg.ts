import { endLabelRoom, endLabels, endStroke } from './end-labels.ts';
import { PixelColumns } from './pixel-columns.ts';
import type { Palette } from './line-style.ts';
import type { LineStyle } from '../types.ts';
import { hundredths, isDenseLine, pathOf, placeIn, type PlotArea, tracePath } from './plot.ts';
import type { Envelope } from '../buckets.ts';
import {
  backToFront,
  type Drawing,
  markerPoints,
  membersOpacity,
  membersOutline,
  type Scene,
  type SceneLine,
  strokesOf,
  visibleMarkers,
} from './scene.ts';
import { pixels } from './axes.ts';

/** A chart as a stand-alone SVG document: title, run name, axes, lines and legend, in the current theme. */
interface SvgOptions {
  title: string;
  runName: string;
  /** Of the whole image; the legend adds to the height. */
  width: number;
  height: number;
  palette: Palette;
}

const margin = { left: 64, right: 16, top: 72, bottom: 44 };
const legendItem = { width: 150, height: 18 };
const font = "'Inter Variable', Inter, system-ui, 'Segoe UI', sans-serif";

export function sceneSvg(scene: Scene, { title, runName, width, height, palette }: SvgOptions): string {
  const right = Math.max(margin.right, endLabelRoom(scene.lines, width));
  const area = { left: margin.left, top: margin.top, right: width - right, bottom: height - margin.bottom };
  const drawing = { scene, area, place: placeIn(scene, area), palette };
  const [plotWidth, plotHeight] = [area.right - area.left, area.bottom - area.top];
  const legend = legendSvg(scene, area.left, height, width, palette);
  return svgDocument({ width, height: height + legend.height, title, runName, palette }, [
    gridSvg(drawing),
    // A nested svg clips to its box without an id.
    `<svg x="${area.left}" y="${area.top}" width="${plotWidth}" height="${plotHeight}" ` +
      `viewBox="${area.left} ${area.top} ${plotWidth} ${plotHeight}">`,
    ...plotSvg(drawing),
    '</svg>',
    ...endLabelsSvg(drawing, width),
    legend.text,
  ]);
}

/** Everything inside the axes, in the order of drawing. */
function plotSvg(drawing: Drawing): string[] {
  const { scene, area, palette } = drawing;
  return [
    ...scene.bands.map((band) => bandSvg(band, drawing)),
    ...scene.lines.map(({ band, style }) => areaSvg(band, drawing, palette[style.color], 0.15)),
    areaSvg(scene.members, drawing, palette['text-muted'], membersOpacity, membersOutline),
    ...scene.events.map((event) => eventSvg(event, drawing)),
    ...strokesOf(scene).map((stroke) => lineSvg(stroke, drawing)),
    ...visibleMarkers(scene).map((marker) => markerSvg(marker, drawing)),
    ...placeNotes(scene, area).map(({ label, left, row }) =>
      textSvg(left, area.top + 13 + row * noteHeight, label, palette['text-muted']),
    ),
  ];
}

/** An image with a title and a run name on a background. @param body markup */
export function svgDocument({ width, height, title, runName, palette }: SvgOptions, body: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `font-family="${font}" font-size="12">`,
    `<title>${escapeXml(`${title} of ${runName}`)}</title>`,
    `<rect width="${width}" height="${height}" fill="${palette.surface}"/>`,
    textSvg(16, 22, title, palette.text, 'font-size="14" font-weight="600"'),
    textSvg(16, 38, runName, palette['text-muted']),
    ...body,
    '</svg>\n',
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function gridSvg({ scene, area, place: { x, y }, palette }: Drawing): string {
  const muted = palette['text-muted'];
  const across = scene.y.ticks.map(({ value }) => `M${area.left} ${hundredths(y(value))}H${area.right}`);
  const upward = scene.x.ticks.map(({ value }) => `M${hundredths(x(value))} ${area.top}V${area.bottom}`);
  return [
    `<path d="${[...across, ...upward].join('')}" stroke="${palette.border}" fill="none"/>`,
    ...scene.y.ticks.map(({ value, label }) => textSvg(area.left - 6, y(value) + 4, label, muted, 'text-anchor="end"')),
    ...scene.x.ticks.map(({ value, label }) =>
      textSvg(x(value), area.bottom + 16, label, muted, 'text-anchor="middle"'),
    ),
    textSvg((area.left + area.right) / 2, area.bottom + 34, scene.x.label, muted, 'text-anchor="middle"'),
    textSvg(16, area.top - 10, scene.y.label, muted),
  ].join('\n');
}

function bandSvg({ from, to }: Scene['bands'][number], { area, place: { x }, palette }: Drawing): string {
  const size = `width="${hundredths(x(to) - x(from))}" height="${area.bottom - area.top}"`;
  return `<rect x="${hundredths(x(from))}" y="${area.top}" ${size} fill="${palette.warn}" fill-opacity="0.12"/>`;
}

function eventSvg({ x }: Scene['events'][number], { area, place, palette }: Drawing): string {
  const path = `M${hundredths(place.x(x))} ${area.top}V${area.bottom}`;
  return `<path d="${path}" stroke="${palette['text-muted']}" stroke-dasharray="1 3"/>`;
}

function areaSvg(band: Envelope | null, { place }: Drawing, fill: string, opacity: number, outline = 0): string {
  if (band === null) return '';
  const points = ({ x, y, count }: Envelope['lower']): [left: number, top: number][] =>
    Array.from({ length: count }, (_, index) => [place.x(x[index]), place.y(y[index])]);
  const corners = [...points(band.upper), ...points(band.lower).toReversed()].filter((point) =>
    point.every(Number.isFinite),
  );
  const border = outline === 0 ? '' : ` stroke="${fill}" stroke-opacity="${outline}"`;
  return `<polygon points="${pointsSvg(corners)}" fill="${fill}" fill-opacity="${opacity}"${border}/>`;
}

function lineSvg({ thinned, style }: Pick<SceneLine, 'thinned' | 'style'>, { area, place, palette }: Drawing): string {
  if (style.dash.length === 0 || !isDenseLine(thinned.count, area)) {
    const path = pathOf((pen) => tracePath(thinned, place, pen));
    return `<path d="${path}" fill="none" ${strokeSvg(style, palette)}/>`;
  }
  const columns = new PixelColumns(area, 1, style);
  tracePath(thinned, place, columns);
  const path = pathOf((pen) => columns.trace(pen));
  return `<path d="${path}" fill="none" ${strokeSvg({ ...style, width: 1, dash: [] }, palette)}/>`;
}

function markerSvg(marker: Scene['markers'][number], { place, palette }: Drawing): string {
  const points = pointsSvg(markerPoints(marker, place));
  const label = `<title>${escapeXml(marker.label)}</title>`;
  return (
    `<polygon points="${points}" fill="${palette[marker.style.color]}" ` +
    `stroke="${palette.surface}">${label}</polygon>`
  );
}

function endLabelsSvg(drawing: Drawing, width: number): string[] {
  const { area, palette } = drawing;
  return endLabels(drawing, width).map(({ text, from, middle, style }) => {
    const path = `M${area.right + endStroke.start} ${hundredths(from)}L${area.right + endStroke.end} ${hundredths(middle)}`;
    const stroke = `<path d="${path}" fill="none" stroke="${palette[style.color]}" stroke-width="1.5"/>`;
    const color = palette[style.color === 'text' ? 'text' : 'text-muted'];
    return stroke + textSvg(area.right + endStroke.text, middle + 4, text, color);
  });
}

function pointsSvg(points: readonly (readonly [left: number, top: number])[]): string {
  return points.map(([left, top]) => `${hundredths(left)},${hundredths(top)}`).join(' ');
}

function legendSvg(
  scene: Scene,
  left: number,
  top: number,
  width: number,
  palette: Palette,
): { text: string; height: number } {
  const perRow = Math.max(1, Math.floor((width - left) / legendItem.width));
  const items = backToFront(scene.lines).map(({ series, style }, index) => {
    const x = left + (index % perRow) * legendItem.width;
    const y = top + Math.floor(index / perRow) * legendItem.height;
    const sample = `<path d="M${x} ${y}h24" ${strokeSvg({ ...style, opacity: 1 }, palette)}/>`;
    return sample + textSvg(x + 30, y + 4, series.label, palette.text);
  });
  return { text: items.join('\n'), height: Math.ceil(items.length / perRow) * legendItem.height + 8 };
}

function strokeSvg({ color, width, opacity, dash }: LineStyle, palette: Palette): string {
  const dashes = dash.length === 0 ? '' : ` stroke-dasharray="${dash.join(' ')}"`;
  const faded = opacity === 1 ? '' : ` stroke-opacity="${opacity}"`;
  return `stroke="${palette[color]}" stroke-width="${width}" stroke-linejoin="round"${faded}${dashes}`;
}

function textSvg(x: number, y: number, text: string, fill: string, attributes = ''): string {
  return `<text x="${hundredths(x)}" y="${hundredths(y)}" fill="${fill}" ${attributes}>${escapeXml(text)}</text>`;
}

/** Escapes text for an element or an attribute, without the characters that XML forbids. */
function escapeXml(text: string): string {
  const named: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  // oxlint-disable-next-line no-control-regex -- the characters that XML 1.0 forbids
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '').replace(/[&<>"']/g, (sign) => named[sign]);
}

/** Text at the top of an event's line or of a band, in exported images; pages have a rail of flags above the plot. */
interface Note {
  label: string;
  /** Left end of the text, in pixels. */
  left: number;
  /** Rows below the top of the plot: notes that would overlap go to different rows. */
  row: number;
}

/** Upper estimate for the charts' fonts at 12 pixels, so that notes do not overlap. */
const pixelsPerCharacter = 6.5;
const besideLine = 3;
const gap = 8;
/** More rows would cover the lines. Labels without room are in the chart's table and in tooltips. */
const maximumRows = 4;
const pixelsPerRow = 70;
const noteHeight = 14;

/** The notes of the marks in the window, as far as there is room. */
export function placeNotes({ x, bands, events }: Scene, area: PlotArea): Note[] {
  const position = pixels(x, area.left, area.right);
  const marks = [...bands.map(({ from, label }) => ({ x: from, label })), ...events]
    .filter((mark) => mark.x >= x.from && mark.x <= x.to)
    .sort((a, b) => a.x - b.x);
  const rows = Math.min(maximumRows, Math.floor((area.bottom - area.top) / pixelsPerRow));
  const ends: number[] = [];
  return marks.flatMap(({ x: at, label }): Note[] => {
    const width = label.length * pixelsPerCharacter;
    if (width > area.right - area.left) return [];
    const right = position(at) + besideLine;
    // Near the right border the text ends at its line instead.
    const left = right + width <= area.right ? right : Math.max(area.left, position(at) - besideLine - width);
    const row = Array.from({ length: rows }, (_, index) => index).find((index) => left >= (ends[index] ?? -Infinity));
    if (row === undefined) return [];
    ends[row] = left + width + gap;
    return [{ label, left, row }];
  });
}
