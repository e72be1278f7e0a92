import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scaleAround } from '../../../../src-renderer/charts/columns.ts';
import {
  brushOf,
  errorPath,
  findPoint,
  linePath,
  nearestPoint,
  placePoints,
  type PointGroup,
  readPoint,
  rectangleOfBrush,
  symbolPath,
  tableColumns,
  tableRows,
} from '../../../../src-renderer/charts/scatter/scatter.ts';
import { placeIn } from '../../../../src-renderer/charts/scene/plot.ts';

/** 100 × 100 pixels: x is logarithmic from 1 to 100, y goes from 0 to 1. */
const plot = {
  x: { from: 1, to: 100, isLog: true },
  y: { from: 0, to: 1, isLog: false },
  area: { left: 0, top: 0, right: 100, bottom: 100 },
};
const place = placeIn(plot, plot.area);
const group: PointGroup = {
  label: 'complete',
  symbol: 'dot',
  ids: [3, 1, 2, 7],
  x: [10, 1, 100, NaN],
  y: [0.5, NaN, 9, 0.5],
  errors: [0.1, NaN, 0.2, 0.1],
};

describe('the scale around values', () => {
  it('leaves room in its own measure, and what is not finite out', () => {
    expect(scaleAround([[0, NaN, 100], [Infinity]])).toEqual({ from: -3, to: 103, isLog: false });
    const { from, to } = scaleAround([[0, 1, 100, -5]], true);
    expect([Math.log10(from), Math.log10(to)]).toEqual([expect.closeTo(-0.06, 9), expect.closeTo(2.06, 9)]);
    expect(scaleAround([], true)).toEqual({ from: 1, to: 10, isLog: true });
    expect(scaleAround([[NaN]])).toEqual({ from: 0, to: 1, isLog: false });
  });

  it('is wider than its values for any of them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), { minLength: 1 }),
        fc.boolean(),
        (values, isLog) => {
          const { from, to } = scaleAround([values], isLog);
          expect(from).toBeLessThan(Math.min(...values));
          expect(to).toBeGreaterThan(Math.max(...values));
        },
      ),
      { seed: 5 },
    );
  });
});

describe('points of a scatter plot', () => {
  it('lie at their values, and on the edges where the axes cannot show them', () => {
    expect(placePoints(group, place, plot.area)).toEqual([
      { id: 3, left: 50, top: 50 },
      { id: 1, left: 0, top: 95 },
      { id: 2, left: 100, top: 0 },
    ]);
    expect(placePoints({ ...group, ids: [0], x: [1], y: [Infinity] }, place, plot.area)).toEqual([
      { id: 0, left: 0, top: 5 },
    ]);
  });

  it('are one path, with bars for finite errors', () => {
    expect(symbolPath('dot', placePoints(group, place, plot.area))).toBe('M50 50h0M0 95h0M100 0h0');
    expect(symbolPath('cross', [{ id: 0, left: 1, top: 2 }])).toBe('M1 2m-3 -3l6 6m-6 0l6 -6');
    expect(errorPath({ ...group, x: [10, 1, 1, 1] }, place)).toBe('M50 60V40M0 -780V-820M0 60V40');
  });

  it('are found within reach, and by id', () => {
    const points = placePoints(group, place, plot.area);
    expect(nearestPoint(points, 54, 47)?.id).toBe(3);
    expect(nearestPoint(points, 70, 50)).toBeNull();
    expect(findPoint([group], 2, place, plot.area)).toEqual({ id: 2, left: 100, top: 0 });
    expect(findPoint([group], 7, place, plot.area)).toBeNull();
    expect(findPoint([group], 4, place, plot.area)).toBeNull();
  });

  it('are read with the names of their values', () => {
    const x = { label: 'activation', scale: plot.x, ticks: [{ value: 10, label: 'relu' }] };
    const y = { label: 'NLL', scale: plot.y };
    const texts = { groups: [group], x, y, idName: 'trial' };
    expect(readPoint(texts, 3)).toBe('trial 3, complete: activation relu, NLL 0.5000');
    expect(readPoint(texts, 4)).toBe('');
    expect(tableColumns(texts)).toEqual(['trial', 'kind', 'activation', 'NLL', 'standard error']);
    expect(tableRows(texts)).toEqual([
      [1, 'complete', 1, NaN, NaN],
      [2, 'complete', 100, 9, 0.2],
      [3, 'complete', 'relu', 0.5, 0.1],
      [7, 'complete', NaN, 0.5, 0.1],
    ]);
  });
});

describe('lines of a scatter plot', () => {
  it('have corners where they step, and gaps at NaN', () => {
    const x = [1, 10, 100];
    expect(linePath({ x, y: [1, 0.5, 0] }, place)).toBe('M0 0L50 50L100 100');
    expect(linePath({ x, y: [1, 0.5, 0], isStep: true }, place)).toBe('M0 0H50V50H100V100');
    expect(linePath({ x: [1, 5, 10, 100], y: [1, NaN, 0.5, 0] }, place)).toBe('M0 0M50 50L100 100');
  });
});

describe('a brush', () => {
  it('encloses values, and stays open where it is hardly wide', () => {
    expect(brushOf({ left: 50, top: 20, width: 50, height: 2 }, plot)).toEqual({
      x: { from: expect.closeTo(10, 9), to: expect.closeTo(100, 9) },
      y: null,
    });
    const { y } = brushOf({ left: 0, top: 20, width: 0, height: 30 }, plot);
    expect(y).toEqual({ from: 0.5, to: 0.8 });
  });

  it('is drawn where its values are, cut to the plot', () => {
    expect(rectangleOfBrush({ x: null, y: null }, plot)).toBeNull();
    expect(rectangleOfBrush({ x: { from: 10, to: 1e6 }, y: null }, plot)).toEqual({
      left: 50,
      top: 0,
      width: 50,
      height: 100,
    });
    expect(rectangleOfBrush({ x: { from: -1, to: 10 }, y: { from: 0.25, to: 0.5 } }, plot)).toEqual({
      left: 0,
      top: 50,
      width: 50,
      height: 25,
    });
  });
});
