import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type Cell, Cells } from '../../../workers/data/tables/cells.ts';

const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 8 }) },
  { weight: 3, arbitrary: fc.constantFrom<Cell>('a', 'b', '', '\u0000', '\u007f', '\u0080', 'Zürich', '\ud800') },
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true }),
  fc.bigInt(),
  fc.boolean(),
  fc.date({ noInvalidDate: true }),
  fc.constant(null),
);
const column = fc.record({ given: fc.array(cell, { maxLength: 200 }), remembered: fc.nat(5) });

function made(given: readonly Cell[], remembered: number): Cells {
  const cells = new Cells(remembered);
  for (const own of given) cells.push(own);
  return cells;
}

describe('the cells of a column', () => {
  it('are those that were put in, in their order, however they are kept', () => {
    fc.assert(
      fc.property(column, ({ given, remembered }) => {
        const cells = made(given, remembered);
        expect([...cells]).toEqual(given);
        expect(cells.length).toBe(given.length);
        expect(cells.present).toBe(given.filter((own) => own !== null).length);
        given.forEach((own, row) => expect(Object.is(cells.at(row), own)).toBe(true));
        given.forEach((own, row) => expect(cells.isMissingAt(row)).toBe(own === null));
      }),
    );
  });

  it('need nothing that browsers lack', () => {
    vi.stubGlobal('Buffer', undefined);
    try {
      expect([...made(['a', 'b', 'a', 'c', 'Zürich'], 1)]).toEqual(['a', 'b', 'a', 'c', 'Zürich']);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('take a first one', () => {
    fc.assert(
      fc.property(column, cell, ({ given, remembered }, first) => {
        const cells = made(given, remembered);
        cells.pushFront(first);
        expect([...cells]).toEqual([first, ...given]);
      }),
    );
  });

  it('are told as values, counted and mapped', () => {
    fc.assert(
      fc.property(column, ({ given, remembered }) => {
        const cells = made(given, remembered);
        const present = given.filter((own) => own !== null);
        const distinct = new Set(present);
        expect(new Set(cells.values())).toEqual(distinct);
        expect(cells.distinct()).toBe(distinct.size);
        expect(cells.distinct(3)).toBe(Math.min(3, distinct.size));
        expect(cells.map(String, 'none')).toEqual(given.map((own) => (own === null ? 'none' : String(own))));
        const isText = (own: unknown): boolean => typeof own === 'string';
        expect(cells.every(isText)).toBe(present.every(isText));
        expect(cells.some(isText)).toBe(present.some(isText));
      }),
    );
  });

  it('are read in the row in which their text comes first', () => {
    const rows: number[] = [];
    made(['a', null, 'b', 'a', 'b'], 5).map((_, row) => rows.push(row), 0);
    expect(rows).toEqual([0, 2]);
  });
});
