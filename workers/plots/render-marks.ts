import type { Numbers } from './axis.ts';
import { PAPER } from './colors.ts';
import type { BandMark, BarsMark, LineMark, Mark, PointsMark, RuleMark, TextMark } from './marks.ts';
import { coordinate, escapeXml, LINE_HEIGHT, textElement } from './text.ts';

/** The plot area in px: (0, 0) is its upper left corner. */
export interface Place {
  width: number;
  height: number;
  /** Position of a value in px; NaN if it cannot be drawn. */
  x: (value: number) => number;
  y: (value: number) => number;
}

export interface Point {
  x: number;
  y: number;
}

const VALUE_LABEL_SIZE = 10;
const VALUE_LABEL_GAP = 4;

/** SVG of a mark; the empty string if nothing of it can be drawn. */
export function renderMark(mark: Mark, place: Place): string {
  switch (mark.kind) {
    case 'line':
      return renderLine(mark, place);
    case 'band':
      return renderBand(mark, place);
    case 'points':
      return renderPoints(mark, place);
    case 'vertical-line':
    case 'horizontal-line':
      return renderRule(mark, place);
    case 'bars':
      return renderBars(mark, place);
    case 'text':
      break;
  }
  return renderText(mark, place);
}

/** Positions of the mark's data that can be drawn, in px. */
export function pointsOf(mark: Mark, place: Place): Point[] {
  switch (mark.kind) {
    case 'line':
    case 'points':
      return placed(mark.x, mark.y, place).filter(isWhole);
    case 'band':
      return [...placed(mark.x, mark.lower, place), ...placed(mark.x, mark.upper, place)].filter(isWhole);
    case 'bars':
      return placed(mark.positions, mark.values, place).filter(isWhole);
    case 'vertical-line':
    case 'horizontal-line':
      return [];
    case 'text':
      break;
  }
  return placed([mark.x], [mark.y], place).filter(isWhole);
}

export function strokeAttributes({ color, width, opacity, dash }: LineMark | RuleMark): string {
  const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(' ')}"` : '';
  const faded = opacity < 1 ? ` stroke-opacity="${opacity}"` : '';
  return `fill="none" stroke="${escapeXml(color)}" stroke-width="${width}"${faded}${dashes}`;
}

export function fillAttributes(color: string, opacity: number): string {
  return `fill="${escapeXml(color)}"${opacity < 1 ? ` fill-opacity="${opacity}"` : ''}`;
}

/** Path data of one marker. */
export function markerPath(shape: PointsMark['shape'], { x, y }: Point, size: number): string {
  if (shape === 'circle') {
    const radius = coordinate(size / 2);
    const arc = `a${radius} ${radius} 0 1 0`;
    return `M${coordinate(x - size / 2)} ${coordinate(y)}${arc} ${coordinate(size)} 0${arc} ${coordinate(-size)} 0Z`;
  }
  const half = 0.55 * size;
  return polygon([
    { x, y },
    { x: x - half, y: y - size },
    { x: x + half, y: y - size },
  ]);
}

function renderLine(mark: LineMark, place: Place): string {
  const runs = runsOf(placed(mark.x, mark.y, place), isWhole);
  if (runs.length === 0) return '';
  return (
    `<path d="${runs.map(polyline).join('')}" ${strokeAttributes(mark)} stroke-linejoin="round" ` +
    `stroke-linecap="round"/>`
  );
}

function renderBand(mark: BandMark, place: Place): string {
  const lower = placed(mark.x, mark.lower, place);
  const columns = placed(mark.x, mark.upper, place).map((upper, i) => ({ upper, lower: lower[i] }));
  const runs = runsOf(columns, ({ upper, lower }) => isWhole(upper) && isWhole(lower));
  if (runs.length === 0) return '';
  const outlines = runs.map((run) => [...run.map(({ upper }) => upper), ...run.map(({ lower }) => lower).toReversed()]);
  return `<path d="${outlines.map(polygon).join('')}" ${fillAttributes(mark.color, mark.opacity)}/>`;
}

function renderPoints(mark: PointsMark, place: Place): string {
  const points = pointsOf(mark, place);
  if (points.length === 0) return '';
  const path = points.map((point) => markerPath(mark.shape, point, mark.size)).join('');
  // The rim separates overlapping markers.
  return `<path d="${path}" ${fillAttributes(mark.color, mark.opacity)} stroke="${PAPER}" stroke-width="0.5"/>`;
}

function renderRule(mark: RuleMark, place: Place): string {
  const position = mark.kind === 'vertical-line' ? place.x(mark.at) : place.y(mark.at);
  if (!Number.isFinite(position)) return '';
  const at = coordinate(position);
  const path =
    mark.kind === 'vertical-line' ? `M${at} 0V${coordinate(place.height)}` : `M0 ${at}H${coordinate(place.width)}`;
  return `<path d="${path}" ${strokeAttributes(mark)}/>`;
}

function renderBars(mark: BarsMark, place: Place): string {
  const zero = place.y(0);
  const foot = Number.isFinite(zero) ? Math.min(place.height, Math.max(0, zero)) : place.height;
  const drawn = Array.from(mark.values, (value, i) => {
    const left = place.x(mark.positions[i] - mark.barWidth / 2);
    const right = place.x(mark.positions[i] + mark.barWidth / 2);
    if (!Number.isFinite(left + right)) return '';
    const end = place.y(value);
    const color = mark.colors[i % mark.colors.length] ?? '';
    const bar = Number.isFinite(end) ? barElement(left, right, foot, end, fillAttributes(color, mark.opacity)) : '';
    return bar + valueLabel(mark.valueLabels[i] ?? '', (left + right) / 2, foot, Number.isFinite(end) ? end : foot);
  });
  return drawn.join('');
}

function barElement(left: number, right: number, foot: number, end: number, fill: string): string {
  const top = Math.min(foot, end);
  return (
    `<rect x="${coordinate(left)}" y="${coordinate(top)}" width="${coordinate(right - left)}" ` +
    `height="${coordinate(Math.abs(foot - end))}" ${fill}/>`
  );
}

function valueLabel(label: string, x: number, foot: number, end: number): string {
  if (label === '') return '';
  const below = end > foot;
  const y = below ? end + VALUE_LABEL_SIZE + VALUE_LABEL_GAP / 2 : end - VALUE_LABEL_GAP;
  return textElement(x, y, label, { size: VALUE_LABEL_SIZE, anchor: 'middle' });
}

function renderText({ x, y, text, size, color, anchor }: TextMark, place: Place): string {
  const at = { x: place.x(x), y: place.y(y) };
  if (!isWhole(at)) return '';
  const rise = (text.split('\n').length - 1) * size * LINE_HEIGHT;
  return textElement(at.x, at.y - rise, text, { size, color, anchor });
}

function placed(xs: Numbers, ys: Numbers, place: Place): Point[] {
  return Array.from(xs, (x, i) => ({ x: place.x(x), y: place.y(ys[i]) }));
}

/** Stretches without a gap. */
function runsOf<T>(items: readonly T[], isDrawable: (item: T) => boolean): T[][] {
  const runs: T[][] = [];
  let open = false;
  for (const item of items) {
    const drawable = isDrawable(item);
    if (drawable && open) runs.at(-1)?.push(item);
    else if (drawable) runs.push([item]);
    open = drawable;
  }
  return runs;
}

function isWhole({ x, y }: Point): boolean {
  return Number.isFinite(x) && Number.isFinite(y);
}

function polyline(points: readonly Point[]): string {
  const path = points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${coordinate(x)} ${coordinate(y)}`).join('');
  // A point between two gaps has no length, but round caps draw it as a dot.
  return points.length === 1 ? `${path}h0` : path;
}

function polygon(points: readonly Point[]): string {
  return `${points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${coordinate(x)} ${coordinate(y)}`).join('')}Z`;
}
