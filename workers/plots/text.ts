/** Text in SVG and its width, which the layout needs before rendering. */

/** PNGs are rendered with DejaVu Sans. Where it is missing, Verdana has the same metrics. */
export const FONT_FAMILY = 'DejaVu Sans, Verdana, sans-serif';

export const LINE_HEIGHT = 1.25;

/** Advance widths of DejaVu Sans from U+0020 to U+007E, in thousandths of the font size. */
const WIDTHS = [
  318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
  636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
  748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
  615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
  337, 636, 838,
];
/** Advance width of minus, times and most other signs. */
const OTHER_WIDTH = 838;

export interface TextStyle {
  size: number;
  color?: string;
  anchor?: 'start' | 'middle' | 'end';
  bold?: boolean;
  /** Degrees, clockwise about the text's own position. */
  rotate?: number;
}

/** Width in px of the widest line of regular text at a font size in px. */
export function textWidth(text: string, size: number): number {
  return Math.max(...text.split('\n').map((line) => (lineWidth(line) * size) / 1000));
}

/** A `<text>` whose first baseline is at (x, y); further lines, split at `\n`, go below it. */
export function textElement(x: number, y: number, text: string, style: TextStyle): string {
  const { size, color, anchor = 'start', bold = false, rotate = 0 } = style;
  const attributes = [
    `font-size="${size}"`,
    anchor === 'start' ? '' : `text-anchor="${anchor}"`,
    bold ? 'font-weight="bold"' : '',
    color === undefined ? '' : `fill="${escapeXml(color)}"`,
    rotate === 0 ? '' : `transform="rotate(${rotate} ${coordinate(x)} ${coordinate(y)})"`,
  ];
  const opening = ['<text', ...attributes.filter((attribute) => attribute !== '')].join(' ');
  const lines = text.split('\n').map((line, index) => {
    const baseline = coordinate(y + index * size * LINE_HEIGHT);
    return `<tspan x="${coordinate(x)}" y="${baseline}">${escapeXml(line)}</tspan>`;
  });
  return `${opening}>${lines.join('')}</text>`;
}

/** Escapes text for element content and quoted attributes; what XML forbids even escaped becomes U+FFFD. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A coordinate in px as SVG text: two decimals, clamped to a range that renderers with 32-bit floats can handle. */
export function coordinate(value: number): string {
  const limit = 1e6;
  return String(Number(Math.min(limit, Math.max(-limit, value)).toFixed(2)));
}

function lineWidth(line: string): number {
  let width = 0;
  for (const character of line) width += WIDTHS[(character.codePointAt(0) ?? 0) - 0x20] ?? OTHER_WIDTH;
  return width;
}
