import { describe, expect, it } from 'vitest';
import { type PointBatch, PointBuffer } from '../../../core/protocol/wire/points.ts';
import { appendPoints, columnsOf, type MetricColumns } from '../../../src-renderer/stores/metric-columns.ts';

function batch(points: [name: string, epoch: number, step: number, value: number][]): PointBatch {
  const buffer = new PointBuffer();
  for (const [name, epoch, step, value] of points) buffer.add(name, epoch, step, value, 1000 * step);
  return buffer.take();
}

const stepsOf = ({ step, length }: MetricColumns): number[] => [...step.subarray(0, length)];
const valuesOf = ({ value, length }: MetricColumns): number[] => [...value.subarray(0, length)];

const fromDisk = (total: number): MetricColumns =>
  columnsOf(
    { name: 'a', epoch: Int32Array.of(0, 0), step: Int32Array.of(10, 20), value: Float64Array.of(1, NaN), total },
    7,
  );

describe('columns from disk', () => {
  it('hold the points without times, and say whether they were thinned', () => {
    expect(fromDisk(2)).toMatchObject({ length: 2, version: 7, isThinned: false });
    expect(fromDisk(3).isThinned).toBe(true);
    expect([fromDisk(2).stepsPerPoint, fromDisk(3).stepsPerPoint]).toEqual([10, 5]);
    expect([...fromDisk(2).timeMs]).toEqual([NaN, NaN]);
  });
});

describe('appending a batch', () => {
  it('sorts the points by metric and returns only the changed metrics', () => {
    const columns = new Map([['a', fromDisk(2)]]);
    const changed = appendPoints(
      columns,
      batch([
        ['b', 0, 5, 0.5],
        ['c', 0, 5, Infinity],
        ['b', 0, 6, 0.25],
      ]),
    );
    expect([...changed.keys()]).toEqual(['b', 'c']);
    expect(valuesOf(changed.get('b') ?? fromDisk(2))).toEqual([0.5, 0.25]);
    expect(valuesOf(changed.get('c') ?? fromDisk(2))).toEqual([Infinity]);
  });

  it('skips points that were already read from disk, and keeps the version', () => {
    const changed = appendPoints(
      new Map([['a', fromDisk(2)]]),
      batch([
        ['a', 0, 20, 99],
        ['a', 1, 30, 3],
      ]),
    );
    const after = changed.get('a') ?? fromDisk(2);
    expect(stepsOf(after)).toEqual([10, 20, 30]);
    expect(valuesOf(after)).toEqual([1, NaN, 3]);
    expect(after.timeMs[2]).toBe(30_000);
    expect(after.version).toBe(7);
  });

  it('changes nothing if all points are known', () => {
    expect(appendPoints(new Map([['a', fromDisk(2)]]), batch([['a', 0, 10, 5]])).size).toBe(0);
  });

  it('leaves a view that was taken before unchanged, whatever is appended', () => {
    const columns = new Map([['a', fromDisk(2)]]);
    const first = appendPoints(columns, batch([['a', 1, 30, 3]])).get('a') ?? fromDisk(2);
    columns.set('a', first);
    for (let step = 31; step < 500; step++) {
      for (const [name, column] of appendPoints(columns, batch([['a', 1, step, step]]))) columns.set(name, column);
    }
    expect(stepsOf(first)).toEqual([10, 20, 30]);
    expect(columns.get('a')?.length).toBe(472);
    expect(columns.get('a')?.value[471]).toBe(499);
  });
});
