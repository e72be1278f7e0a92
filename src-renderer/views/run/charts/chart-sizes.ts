import { z } from 'zod';

const spanSchema = z.union([z.literal(1), z.literal(2)]);
const sizeSchema = z.strictObject({ columns: spanSchema, rows: spanSchema });

/** Sizes that the user chose, by chart id. */
export const chartSizesSchema = z.record(z.string(), sizeSchema);
export type ChartSizes = z.output<typeof chartSizesSchema>;

/** The number of grid columns and rows of a chart. */
export type ChartSize = z.output<typeof sizeSchema>;

const big: ChartSize = { columns: 2, rows: 2 };
const small: ChartSize = { columns: 1, rows: 1 };

/** The chosen size of a chart. By default the first chart is big. */
export function sizeOf(sizes: ChartSizes, id: string, place: number): ChartSize {
  return sizes[id] ?? (place === 0 ? big : small);
}

/** The size after an arrow key; null for any other key. */
export function resizedByKey({ columns, rows }: ChartSize, key: string): ChartSize | null {
  switch (key) {
    case 'ArrowLeft':
      return { columns: 1, rows };
    case 'ArrowRight':
      return { columns: 2, rows };
    case 'ArrowUp':
      return { columns, rows: 1 };
    case 'ArrowDown':
      return { columns, rows: 2 };
    default:
      return null;
  }
}

/**
 * The size whose lower right corner is nearest to the dragged corner.
 * @param box the chart's current size, in pixels
 * @param corner from the box's upper left corner, in pixels
 */
export function resizedByDrag(
  { columns, rows }: ChartSize,
  box: { width: number; height: number },
  corner: { x: number; y: number },
): ChartSize {
  return {
    columns: corner.x > (1.5 * box.width) / columns ? 2 : 1,
    rows: corner.y > (1.5 * box.height) / rows ? 2 : 1,
  };
}

/** `2 columns, 1 row`. */
export function describeSize({ columns, rows }: ChartSize): string {
  return `${columns} ${columns === 1 ? 'column' : 'columns'}, ${rows} ${rows === 1 ? 'row' : 'rows'}`;
}

/** Where a chart lies in the grid: lines count from 1. */
export interface GridPlace {
  column: number;
  columns: number;
  row: number;
  rows: number;
}

/**
 * Columns of the grid: halves, thirds and quarters of its width, and of what is left beside a third or a quarter, are
 * whole numbers.
 */
const gridColumns = 24;

/** How many small charts fit beside each other. @param width of the grid, in pixels */
export function columnsOfWidth(width: number): 1 | 2 | 3 | 4 {
  if (width < 560) return 1;
  if (width < 960) return 2;
  return width < 1520 ? 3 : 4;
}

type Card = ChartSize & { index: number };

/** Charts that fill the whole width, over one or two rows. */
interface Band {
  tall: Card[];
  above: Card[];
  below: Card[];
}

/**
 * Places charts in bands, one below the other, whose charts share its width by their sizes: no row has a gap. In a band
 * of two rows the tall charts are at the left, and the others beside them in one row or two.
 */
export function fillGrid(sizes: readonly ChartSize[], columnCount: 1 | 2 | 3 | 4): GridPlace[] {
  const cards = sizes.map(({ columns, rows }, index): Card => {
    const fitting = Math.min(columns, columnCount) as 1 | 2;
    return { index, columns: fitting, rows: columnCount === 1 ? 1 : rows };
  });
  const places: GridPlace[] = [];
  let row = 1;
  for (let start = 0; start < cards.length;) {
    const band = bandAt(cards, start, columnCount);
    placeBand(band, row, places);
    start += band.tall.length + band.above.length + band.below.length;
    row += band.tall.length > 0 ? 2 : 1;
  }
  return places;
}

/** The next charts as far as they fit; beside tall ones, a second row of others. */
function bandAt(cards: readonly Card[], start: number, columnCount: number): Band {
  const first = fitting(cards.slice(start), columnCount);
  const tall = first.filter(({ rows }) => rows === 2);
  const above = first.filter(({ rows }) => rows === 1);
  if (tall.length === 0 || above.length === 0) return { tall, above, below: [] };
  const rest = cards.slice(start + first.length);
  const end = rest.findIndex(({ rows }) => rows === 2);
  return { tall, above, below: fitting(end === -1 ? rest : rest.slice(0, end), widthOf(above)) };
}

/** The first cards that fit a width. */
function fitting(cards: readonly Card[], width: number): Card[] {
  const count = cards.findIndex((_, index) => widthOf(cards.slice(0, index + 1)) > width);
  return count === -1 ? [...cards] : cards.slice(0, count);
}

function widthOf(cards: readonly Card[]): number {
  return cards.reduce((sum, { columns }) => sum + columns, 0);
}

function placeBand({ tall, above, below }: Band, row: number, places: GridPlace[]): void {
  const unit = gridColumns / (widthOf(tall) + widthOf(above));
  const beside = { column: 1 + widthOf(tall) * unit, columns: widthOf(above) * unit };
  share(tall, { column: 1, columns: widthOf(tall) * unit, row, rows: 2 }, places);
  share(above, { ...beside, row, rows: tall.length > 0 && below.length === 0 ? 2 : 1 }, places);
  share(below, { ...beside, row: row + 1, rows: 1 }, places);
}

/** Cards beside each other share an area by their sizes. */
function share(cards: readonly Card[], area: GridPlace, places: GridPlace[]): void {
  const unit = area.columns / widthOf(cards);
  let { column } = area;
  for (const card of cards) {
    places[card.index] = { ...area, column, columns: card.columns * unit };
    column += card.columns * unit;
  }
}
