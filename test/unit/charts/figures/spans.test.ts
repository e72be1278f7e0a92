import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packLanes, spanAt, spanBox, spanPath } from '../../../../src-renderer/charts/figures/lanes.ts';
import { placeIn } from '../../../../src-renderer/charts/scene/plot.ts';

const spans = [
  { id: 0, row: 0, from: 0, to: 10 },
  { id: 1, row: 0, from: 5, to: 20 },
  { id: 2, row: 0, from: 10, to: 12 },
  { id: 3, row: 1, from: 0, to: 0 },
];
const area = { left: 0, top: 0, right: 200, bottom: 100 };
const place = placeIn({ x: { from: 0, to: 20, isLog: false }, y: { from: -0.5, to: 1.5, isLog: false } }, area);

describe('spans of rows', () => {
  it('share a row in as many lanes as overlap', () => {
    expect(packLanes(spans, 2).map(({ id, lane, lanes }) => [id, lane, lanes])).toEqual([
      [0, 0, 2],
      [3, 0, 1],
      [1, 1, 2],
      [2, 0, 2],
    ]);
  });

  it('lie in their row, the first at the top, and are never invisible', () => {
    const [zero, three, one] = packLanes(spans, 2);
    expect(spanBox(zero, 2, place)).toEqual({ left: 0, top: 5, width: 99.5, height: 19 });
    expect(spanBox(one, 2, place)).toEqual({ left: 50, top: 25, width: 149.5, height: 19 });
    expect(spanBox(three, 2, place)).toEqual({ left: 0, top: 55, width: 1, height: 39 });
    expect(spanPath([zero], 2, place)).toBe('M0 5h99.5v19h-99.5z');
  });

  it('are found under the pointer', () => {
    const placed = packLanes(spans, 2);
    expect(spanAt(placed, 2, place, 60, 10)).toBe(0);
    expect(spanAt(placed, 2, place, 60, 30)).toBe(1);
    expect(spanAt(placed, 2, place, 150, 10)).toBeNull();
  });

  it('never overlap in a lane', () => {
    const span = fc.record({ row: fc.nat(2), from: fc.nat(50), length: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(span), (drawn) => {
        const all = packLanes(
          drawn.map(({ row, from, length }, id) => ({ id, row, from, to: from + length })),
          3,
        );
        for (const one of all) {
          expect(one.lane).toBeLessThan(one.lanes);
          const others = all.filter(({ id, row, lane }) => id !== one.id && row === one.row && lane === one.lane);
          for (const other of others) expect(one.to <= other.from || other.to <= one.from).toBe(true);
        }
      }),
      { seed: 3 },
    );
  });
});
