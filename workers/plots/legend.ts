import { GRID, INK, PAPER } from './colors.ts';
import type { LegendCorner, LegendPosition } from './figure.ts';
import type { Mark } from './marks.ts';
import { fillAttributes, markerPath, type Place, type Point, pointsOf, strokeAttributes } from './render-marks.ts';
import { coordinate, textElement, textWidth } from './text.ts';

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
export function renderLegend(marks: readonly Mark[], position: LegendPosition, place: Place): string {
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

/** In order of preference. */
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
      return `<path d="${markerPath(mark.shape, { x: centre, y }, mark.size)}" ${fillAttributes(mark.color, mark.opacity)}/>`;
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
