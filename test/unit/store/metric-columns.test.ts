import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MetricColumn } from '../../../src-main/store/metric-columns.ts';

const contents = ({ epoch, step, value, length }: MetricColumn) =>
  Array.from({ length }, (_, index) => [step[index], epoch[index], value[index]]);

it('keeps the later of two values for a place, sorted by step and epoch, in whatever order they come', () => {
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
