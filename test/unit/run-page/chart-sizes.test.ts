import { describe, expect, it } from 'vitest';
import {
  chartSizesSchema,
  describeSize,
  resizedByDrag,
  resizedByKey,
  sizeOf,
} from '../../../src-renderer/views/run/charts/chart-sizes.ts';

const small = { columns: 1, rows: 1 } as const;
const big = { columns: 2, rows: 2 } as const;

describe('sizes of charts', () => {
  it('are big for the first and small for the others by default', () => {
    const sizes = chartSizesSchema.parse({ ece: { columns: 2, rows: 1 }, nll: small });
    expect([sizeOf(sizes, 'mse', 0), sizeOf(sizes, 'mse', 1)]).toEqual([big, small]);
    expect([sizeOf(sizes, 'nll', 0), sizeOf(sizes, 'ece', 5)]).toEqual([small, { columns: 2, rows: 1 }]);
  });

  it('follow the arrow keys, within limits', () => {
    expect(resizedByKey(small, 'ArrowRight')).toEqual({ columns: 2, rows: 1 });
    expect(resizedByKey(small, 'ArrowDown')).toEqual({ columns: 1, rows: 2 });
    expect(resizedByKey(big, 'ArrowLeft')).toEqual({ columns: 1, rows: 2 });
    expect(resizedByKey(big, 'ArrowUp')).toEqual({ columns: 2, rows: 1 });
    expect(resizedByKey(big, 'ArrowDown')).toEqual(big);
    expect(resizedByKey(big, 'Enter')).toBeNull();
  });

  it('snap to the dragged corner', () => {
    const box = { width: 400, height: 248 };
    expect(resizedByDrag(small, box, { x: 590, y: 380 })).toEqual({ columns: 1, rows: 2 });
    expect(resizedByDrag(small, box, { x: 610, y: 200 })).toEqual({ columns: 2, rows: 1 });
    const doubled = { width: 812, height: 508 };
    expect(resizedByDrag(big, doubled, { x: 600, y: 500 })).toEqual({ columns: 1, rows: 2 });
    expect(resizedByDrag(big, doubled, { x: 700, y: 300 })).toEqual({ columns: 2, rows: 1 });
  });

  it('have a description in words', () => {
    expect([describeSize(big), describeSize(small)]).toEqual(['2 columns, 2 rows', '1 column, 1 row']);
  });
});
