import type { LineStyle, Palette } from '../series/line-style.ts';
import { noteHeight, placeNotes } from '../series/notes.ts';
import { PixelColumns } from '../points/pixel-columns.ts';
import { hundredths, isDenseLine, pathData, pathOf, pixels, type PlotArea, tracePath } from './plot-area.ts';
import { backToFront, type Scene, type SceneLine } from './scene.ts';

/** A chart as a stand-alone SVG document: title, run name, axes, lines and legend, in the theme that is on the screen. */
export interface SvgOptions {
  title: string;
  runName: string;
  /** Of the whole image; the legend adds to the height. */
  width: number;
  height: number;
  palette: Palette;
}

const margin = { left: 64, right: 16, top: 72, bottom: 44 };
const legendItem = { width: 150, height: 18 };
const font = "system-ui, 'Segoe UI', sans-serif";

export function sceneSvg(scene: Scene, { title, runName, width, height, palette }: SvgOptions): string {
  const area = { left: margin.left, top: margin.top, right: width - margin.right, bottom: height - margin.bottom };
  const legend = legendSvg(scene, area.left, height, width, palette);
  const plot = [
    ...scene.bands.map((band) => bandSvg(scene, band, area, palette)),
    ...scene.lines.map((line) => lineAreaSvg(scene, line, area, palette)),
    ...scene.events.map((event) => eventSvg(scene, event, area, palette)),
    ...backToFront(scene.lines).map((line) => lineSvg(scene, line, area, palette)),
    ...scene.markers.map((marker) => markerSvg(scene, marker, area, palette)),
    ...placeNotes(scene, area).map(({ label, left, row }) =>
      textSvg(left, area.top + 13 + row * noteHeight, label, palette['text-muted']),
    ),
  ];
  return svgDocument({ width, height: height + legend.height, title, runName, palette }, [
    gridSvg(scene, area, palette),
    // A nested svg clips to its box without an id.
    `<svg x="${area.left}" y="${area.top}" width="${area.right - area.left}" height="${area.bottom - area.top}" ` +
      `viewBox="${area.left} ${area.top} ${area.right - area.left} ${area.bottom - area.top}">`,
    ...plot,
    '</svg>',
    legend.text,
  ]);
}

/** An image with its title and run name on a background; `body` is markup. */
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

function gridSvg(scene: Scene, area: PlotArea, palette: Palette): string {
  const [x, y] = [pixels(scene.x, area.left, area.right), pixels(scene.y, area.bottom, area.top)];
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

function bandSvg(scene: Scene, { from, to }: Scene['bands'][number], area: PlotArea, palette: Palette): string {
  const x = pixels(scene.x, area.left, area.right);
  const size = `width="${hundredths(x(to) - x(from))}" height="${area.bottom - area.top}"`;
  return `<rect x="${hundredths(x(from))}" y="${area.top}" ${size} fill="${palette.warn}" fill-opacity="0.12"/>`;
}

function eventSvg(scene: Scene, { x }: Scene['events'][number], area: PlotArea, palette: Palette): string {
  const left = pixels(scene.x, area.left, area.right)(x);
  const path = `M${hundredths(left)} ${area.top}V${area.bottom}`;
  return `<path d="${path}" stroke="${palette['text-muted']}" stroke-dasharray="1 3"/>`;
}

function lineAreaSvg(scene: Scene, line: SceneLine, area: PlotArea, palette: Palette): string {
  if (line.band === null) return '';
  const [x, y] = [pixels(scene.x, area.left, area.right), pixels(scene.y, area.bottom, area.top)];
  const points = ({ x: xs, y: ys, count }: typeof line.thinned): string[] =>
    Array.from({ length: count }, (_, index) => [x(xs[index]), y(ys[index])])
      .filter((point) => point.every(Number.isFinite))
      .map(([left, top]) => `${hundredths(left)},${hundredths(top)}`);
  const outline = [...points(line.band.upper), ...points(line.band.lower).toReversed()].join(' ');
  return `<polygon points="${outline}" fill="${palette[line.style.color]}" fill-opacity="0.15"/>`;
}

function lineSvg(scene: Scene, { thinned, style }: SceneLine, area: PlotArea, palette: Palette): string {
  const place = { x: pixels(scene.x, area.left, area.right), y: pixels(scene.y, area.bottom, area.top) };
  if (style.dash.length === 0 || !isDenseLine(thinned.count, area)) {
    return `<path d="${pathData(thinned, place)}" fill="none" ${strokeSvg(style, palette)}/>`;
  }
  const columns = new PixelColumns(area, 1, style);
  tracePath(thinned, place, columns);
  const path = pathOf((pen) => columns.trace(pen));
  return `<path d="${path}" fill="none" ${strokeSvg({ ...style, width: 1, dash: [] }, palette)}/>`;
}

function markerSvg(scene: Scene, marker: Scene['markers'][number], area: PlotArea, palette: Palette): string {
  const left = pixels(scene.x, area.left, area.right)(marker.x);
  const tip = pixels(scene.y, area.bottom, area.top)(marker.y) - 2;
  const points = `${hundredths(left)},${hundredths(tip)} ${hundredths(left - 5)},${hundredths(tip - 8)} ${hundredths(left + 5)},${hundredths(tip - 8)}`;
  const label = `<title>${escapeXml(marker.label)}</title>`;
  return `<polygon points="${points}" fill="${palette[marker.style.color]}" stroke="${palette.surface}">${label}</polygon>`;
}

function legendSvg(
  scene: Scene,
  left: number,
  top: number,
  width: number,
  palette: Palette,
): { text: string; height: number } {
  const perRow = Math.max(1, Math.floor((width - left) / legendItem.width));
  const items = scene.lines.map(({ series, style }, index) => {
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

/** Text as it may stand in an element or in an attribute; characters that XML forbids are left out. */
export function escapeXml(text: string): string {
  const named: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  // oxlint-disable-next-line no-control-regex -- XML 1.0 forbids just these
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '').replace(/[&<>"']/g, (sign) => named[sign]);
}
