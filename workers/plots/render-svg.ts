import { GRID, INK, MUTED, PAPER } from './colors.ts';
import type { Figure, LegendCorner, LegendPosition } from './figure.ts';
import {
  FIGURE_TITLE_SIZE,
  LABEL_SIZE,
  layOut,
  PANEL_TITLE_SIZE,
  type PanelLayout,
  TICK_GAP,
  TICK_SIZE,
} from './layout.ts';
import {
  fillAttributes,
  markerPath,
  type Place,
  type Point,
  pointsOf,
  renderMark,
  strokeAttributes,
} from './render-marks.ts';
import { coordinate, escapeXml, FONT_FAMILY, textElement, textWidth } from './text.ts';
import type { Mark } from './marks.ts';

/** Renders a figure as a stand-alone SVG document. The same figure always gives the same text. */
export function renderSvg(figure: Figure): string {
  const { width, height, title } = figure;
  const name = title ?? figure.panels.flatMap((panel) => panel.title ?? panel.yLabel ?? []).join(', ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `role="img" font-family="${FONT_FAMILY}" fill="${INK}">`,
    `<title>${escapeXml(name)}</title>`,
    `<rect width="${width}" height="${height}" fill="${PAPER}"/>`,
    ...(title === undefined ? [] : [figureTitle(title, width)]),
    ...layOut(figure).map(renderPanel),
    '</svg>\n',
  ].join('\n');
}

function figureTitle(title: string, width: number): string {
  return textElement(width / 2, 12 + FIGURE_TITLE_SIZE, title, {
    size: FIGURE_TITLE_SIZE,
    anchor: 'middle',
    bold: true,
  });
}

function renderPanel(layout: PanelLayout): string {
  const { panel, left, top, width, height, xAxis, yAxis } = layout;
  const place: Place = {
    width,
    height,
    x: (value) => xAxis.fraction(value) * width,
    y: (value) => (1 - yAxis.fraction(value)) * height,
  };
  // A nested svg clips to its box without an id, which would have to be unique among the figures of a page.
  return [
    `<g transform="translate(${coordinate(left)} ${coordinate(top)})">`,
    renderGrid(layout, place),
    `<svg width="${coordinate(width)}" height="${coordinate(height)}" overflow="hidden">`,
    // resvg crashes on a clipped group outside the image: this keeps a part of it inside.
    `<rect width="${coordinate(width)}" height="${coordinate(height)}" fill-opacity="0"/>`,
    ...panel.marks.map((mark) => renderMark(mark, place)).filter((mark) => mark !== ''),
    '</svg>',
    `<path d="M0 0V${coordinate(height)}H${coordinate(width)}" fill="none" stroke="${MUTED}"/>`,
    renderTickLabels(layout, place),
    ...renderTitles(layout),
    renderLegend(panel.marks, panel.legend ?? 'auto', place),
    '</g>',
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function renderGrid({ panel, xAxis, yAxis }: PanelLayout, { width, height, x, y }: Place): string {
  const hasCategories = panel.marks.some((mark) => mark.kind === 'bars' && mark.labels.length > 0);
  const across = yAxis.ticks.map(({ value }) => `M0 ${coordinate(y(value))}H${coordinate(width)}`);
  const upward = hasCategories
    ? []
    : xAxis.ticks.map(({ value }) => `M${coordinate(x(value))} 0V${coordinate(height)}`);
  const path = [...across, ...upward].join('');
  return path === '' ? '' : `<path d="${path}" fill="none" stroke="${GRID}"/>`;
}

function renderTickLabels({ xAxis, yAxis, xTickSize }: PanelLayout, { height, x, y }: Place): string {
  const below = xAxis.ticks.map(({ value, label }) =>
    textElement(x(value), height + TICK_GAP + TICK_SIZE, label, { size: xTickSize, anchor: 'middle' }),
  );
  const beside = yAxis.ticks.map(({ value, label }) =>
    textElement(-TICK_GAP, y(value) + 0.36 * TICK_SIZE, label, { size: TICK_SIZE, anchor: 'end' }),
  );
  return [...below, ...beside].join('\n');
}

function renderTitles({ panel, width, height, xLabelOffset, yLabelOffset }: PanelLayout): string[] {
  const { title, xLabel, yLabel } = panel;
  const centred = { size: LABEL_SIZE, anchor: 'middle' } as const;
  const [right, middle] = [width / 2, height / 2];
  return [
    title === undefined ? '' : textElement(right, -9, title, { size: PANEL_TITLE_SIZE, anchor: 'middle', bold: true }),
    xLabel === undefined ? '' : textElement(right, height + xLabelOffset, xLabel, centred),
    yLabel === undefined ? '' : textElement(-yLabelOffset, middle, yLabel, { ...centred, rotate: -90 }),
  ];
}

const FONT_SIZE = 10;
const ROW_HEIGHT = 15;
const SWATCH_WIDTH = 20;
const SWATCH_GAP = 6;
const PADDING = 6;
const INSET = 6;
const TEXT_LEFT = PADDING + SWATCH_WIDTH + SWATCH_GAP;

type LabelledMark = Exclude<Mark, { kind: 'text' }>;

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The legend of the marks that have a label; the empty string without any. */
function renderLegend(marks: readonly Mark[], position: LegendPosition, place: Place): string {
  const entries = marks.filter((mark) => mark.kind !== 'text').filter(({ label }) => label !== '');
  if (entries.length === 0 || position === 'none') return '';
  const width = TEXT_LEFT + Math.max(...entries.map(({ label }) => textWidth(label, FONT_SIZE))) + PADDING;
  const height = entries.length * ROW_HEIGHT + 2 * PADDING - (ROW_HEIGHT - FONT_SIZE) / 2;
  const boxIn = (corner: LegendCorner): Box => ({
    left: corner.endsWith('left') ? INSET : place.width - width - INSET,
    top: corner.startsWith('top') ? INSET : place.height - height - INSET,
    width,
    height,
  });
  const { left, top } = position === 'auto' ? quietestBox(CORNERS.map(boxIn), marks, place) : boxIn(position);
  return (
    `<g transform="translate(${coordinate(left)} ${coordinate(top)})">` +
    `<rect width="${coordinate(width)}" height="${coordinate(height)}" rx="3" fill="${PAPER}" ` +
    `fill-opacity="0.85" stroke="${GRID}"/>${entries.map(renderEntry).join('')}</g>`
  );
}

/** The corners in order of preference. */
const CORNERS = ['top-right', 'bottom-right', 'top-left', 'bottom-left'] as const;

/** The box that covers the fewest data points, the first of equals. */
function quietestBox(boxes: readonly Box[], marks: readonly Mark[], place: Place): Box {
  const data = marks.flatMap((mark) => pointsOf(mark, place));
  const covered = boxes.map((box) => data.filter((point) => isInside(point, box)).length);
  return boxes[covered.indexOf(Math.min(...covered))];
}

function isInside({ x, y }: Point, { left, top, width, height }: Box): boolean {
  return x >= left && x <= left + width && y >= top && y <= top + height;
}

function renderEntry(mark: LabelledMark, row: number): string {
  const middle = PADDING + row * ROW_HEIGHT + FONT_SIZE / 2 + 1;
  const label = textElement(TEXT_LEFT, middle + 0.36 * FONT_SIZE, mark.label, { size: FONT_SIZE, color: INK });
  return swatch(mark, middle) + label;
}

function swatch(mark: LabelledMark, middle: number): string {
  const [left, right] = [PADDING, PADDING + SWATCH_WIDTH];
  const centre = (left + right) / 2;
  switch (mark.kind) {
    case 'line':
    case 'horizontal-line':
      return `<path d="M${left} ${middle}H${right}" ${strokeAttributes(mark)}/>`;
    case 'vertical-line':
      return `<path d="M${centre} ${middle - 6}V${middle + 6}" ${strokeAttributes(mark)}/>`;
    case 'points': {
      const y = mark.shape === 'circle' ? middle : middle + mark.size / 2;
      return (
        `<path d="${markerPath(mark.shape, { x: centre, y }, mark.size)}" ` +
        `${fillAttributes(mark.color, mark.opacity)}/>`
      );
    }
    case 'band':
      return block(left, middle, fillAttributes(mark.color, mark.opacity));
    case 'bars':
      break;
  }
  return block(left, middle, fillAttributes(mark.colors[0] ?? INK, mark.opacity));
}

function block(left: number, middle: number, fill: string): string {
  return `<rect x="${left}" y="${middle - 4}" width="${SWATCH_WIDTH}" height="8" ${fill}/>`;
}
