import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MetricColumn } from '../../../../src-main/store/metrics/metric-column.ts';

const contents = ({ epoch, step, value, length }: MetricColumn) =>
  Array.from({ length }, (_, index) => [step[index], epoch[index], value[index]]);

it('keeps the later of two values for the same place and sorts by step and epoch, in any order of arrival', () => {
  const point = fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 2 }), fc.double());
  fc.assert(
    fc.property(fc.array(point, { maxLength: 200 }), (points) => {
      const column = new MetricColumn();
      for (const [step, epoch, value] of points) column.set(epoch, step, value);
      const expected = new Map(points.map(([step, epoch, value]) => [step * 3 + epoch, [step, epoch, value]]));
      expect(contents(column)).toEqual([...expected].sort(([a], [b]) => a - b).map(([, entry]) => entry));
    }),
  );
});

it('finds the first point at or after a step', () => {
  const column = new MetricColumn();
  for (const step of [10, 20, 20, 30]) column.set(step === 20 ? 1 : 0, step, step);
  expect([0, 10, 11, 20, 30, 31].map((step) => column.firstAt(step))).toEqual([0, 0, 1, 1, 2, 3]);
});

describe('a column limited to 64 points', () => {
  const filled = (values: readonly number[]): MetricColumn => {
    const column = new MetricColumn(64);
    values.forEach((value, step) => column.set(0, step, value));
    return column;
  };

  it('keeps every spike and gap and the first and last point, whatever the number of points', () => {
    const place = fc.integer({ min: 1, max: 998 });
    fc.assert(
      fc.property(fc.uniqueArray(place, { minLength: 3, maxLength: 3 }), ([high, low, gap]) => {
        const values = Array.from({ length: 1000 }, (_, step) => Math.sin(step));
        [values[high], values[low], values[gap]] = [5, -5, Number.NaN];
        const column = filled(values);
        expect(column.total).toBe(1000);
        expect(column.length).toBeLessThanOrEqual(64);
        const held = new Map(contents(column).map(([step, , value]) => [step, value]));
        for (const step of [0, high, low, gap, 999]) expect(held.get(step)).toBe(values[step]);
        for (const [step, value] of held) expect(value).toBe(values[step]);
      }),
    );
  });

  it('keeps only the smallest, the largest and the first NaN of each finished block, and the first point', () => {
    const value = fc.oneof(
      { weight: 9, arbitrary: fc.double({ noNaN: true }) },
      { weight: 1, arbitrary: fc.constant(NaN) },
    );
    fc.assert(
      fc.property(fc.uniqueArray(value, { minLength: 100, maxLength: 700, comparator: 'SameValue' }), (drawn) => {
        const values = drawn.map((value, index) => (index % 50 === 7 ? NaN : value));
        const column = filled(values);
        const finished = values.length - 1 - ((values.length - 1) % column.blockPoints);
        const expected = new Set([0]);
        for (let start = 0; start < finished; start += column.blockPoints) {
          const block = values.slice(start, start + column.blockPoints);
          const numbers = block.filter((value) => !Number.isNaN(value));
          const kept = [Math.min(...numbers), Math.max(...numbers), NaN].map((value) =>
            block.findIndex((x) => Object.is(x, value)),
          );
          for (const index of kept) if (index >= 0) expected.add(start + index);
        }
        const steps = contents(column).map(([step]) => step);
        expect(steps.filter((step) => step < finished)).toEqual(
          [...expected].filter((step) => step < finished).toSorted((a, b) => a - b),
        );
        const places = steps.map((_, place) => place);
        const counts = places.map((from) => places.map((to) => column.countBetween(from, to)));
        expect(counts).toEqual(steps.map((first) => steps.map((last) => Math.max(0, last - first))));
      }),
      { seed: 1, numRuns: 15 },
    );
  });

  it('counts the points that it drops', () => {
    const column = filled(Array.from({ length: 1000 }, (_, step) => step % 7));
    expect(column.isThinned).toBe(true);
    expect(column.countBetween(0, column.length)).toBe(1000);
    const [from, to] = [column.firstAt(200), column.firstAt(700)];
    expect(column.countBetween(from, to)).toBe(column.step[to] - column.step[from]);
  });

  it('accepts late points and corrects points that it holds', () => {
    const column = filled(Array.from({ length: 1000 }, (_, step) => 2 * step));
    column.set(0, 999, -1);
    column.set(1, 500, 9);
    expect(column.total).toBe(1001);
    expect(contents(column).at(-1)).toEqual([999, 0, -1]);
    expect(contents(column)).toContainEqual([500, 1, 9]);
    const steps = contents(column).map(([step]) => step);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  });
});
