import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOfWidth, fillGrid } from '../../../src-renderer/views/run/charts/chart-sizes.ts';

const big = { columns: 2, rows: 2 } as const;
const wide = { columns: 2, rows: 1 } as const;
const tall = { columns: 1, rows: 2 } as const;
const small = { columns: 1, rows: 1 } as const;

/** `column+columns/row+rows` of each place. */
const spell = (...args: Parameters<typeof fillGrid>) =>
  fillGrid(...args).map(({ column, columns, row, rows }) => `${column}+${columns}/${row}+${rows}`);

describe('charts in a grid', () => {
  it('lie beside the big one, and below it three in a row', () => {
    expect(spell([big, small, small, small, small, small], 3)).toEqual([
      '1+16/1+2',
      '17+8/1+1',
      '17+8/2+1',
      '1+8/3+1',
      '9+8/3+1',
      '17+8/3+1',
    ]);
  });

  it('share the width of the last row', () => {
    expect(spell([small, small, small, small, small], 3).slice(3)).toEqual(['1+12/2+1', '13+12/2+1']);
    expect(spell([small, small, small, small], 3).slice(3)).toEqual(['1+24/2+1']);
    expect(spell([wide, small, small], 4)).toEqual(['1+12/1+1', '13+6/1+1', '19+6/1+1']);
    expect(spell([wide, small], 4)).toEqual(['1+16/1+1', '17+8/1+1']);
  });

  it('fill the place beside the big one', () => {
    expect(spell([big, small], 3)).toEqual(['1+16/1+2', '17+8/1+2']);
    expect(spell([big], 3)).toEqual(['1+24/1+2']);
    expect(spell([big, small, small, small], 4)).toEqual(['1+12/1+2', '13+6/1+1', '19+6/1+1', '13+12/2+1']);
  });

  it('beside a later big one lie to its right', () => {
    expect(spell([small, big, small], 3)).toEqual(['17+8/1+1', '1+16/1+2', '17+8/2+1']);
  });

  it('are one below the other on a phone', () => {
    expect(spell([big, wide, small], 1)).toEqual(['1+24/1+1', '1+24/2+1', '1+24/3+1']);
  });

  it('cover the grid without a gap and without an overlap, whatever their sizes', () => {
    const sizes = fc.array(fc.constantFrom(big, wide, tall, small), { maxLength: 12 });
    fc.assert(
      fc.property(sizes, fc.constantFrom(1, 2, 3, 4), (cards, columnCount) => {
        const covered = new Map<string, number>();
        const places = fillGrid(cards, columnCount);
        for (const { column, columns, row, rows } of places) {
          for (let y = row; y < row + rows; y++) {
            for (let x = column; x < column + columns; x++)
              covered.set(`${x} ${y}`, (covered.get(`${x} ${y}`) ?? 0) + 1);
          }
        }
        const height = Math.max(0, ...places.map(({ row, rows }) => row + rows - 1));
        expect(covered.size).toBe(24 * height);
        expect([...covered.values()].every((count) => count === 1)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('are one to four in a row, by the width of the page', () => {
    expect([390, 560, 959, 960, 1440, 1520].map(columnsOfWidth)).toEqual([1, 2, 2, 3, 3, 4]);
  });
});
