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
