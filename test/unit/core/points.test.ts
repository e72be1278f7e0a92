import { describe, expect, it } from 'vitest';
import { arraysOfBatch, pointBatch, PointBuffer, withRoom } from '../../../core/protocol/wire/points.ts';

function bufferOf(...points: [name: string, epoch: number, step: number, value: number][]): PointBuffer {
  const buffer = new PointBuffer();
  for (const [name, epoch, step, value] of points) buffer.add(name, epoch, step, value, 1000 * step);
  return buffer;
}

describe('a buffer of points', () => {
  it('returns a range with the names of its metrics alone, in the order in which they came', () => {
    const buffer = bufferOf(['a', 0, 1, 0.5], ['b', 0, 1, NaN], ['c', 0, 2, -0], ['b', 1, 3, Infinity]);
    expect(buffer.slice(1, 4)).toEqual({
      names: ['b', 'c'],
      nameIndex: Int32Array.of(0, 1, 0),
      epoch: Int32Array.of(0, 0, 1),
      step: Int32Array.of(1, 2, 3),
      value: Float64Array.of(NaN, -0, Infinity),
      timeMs: Float64Array.of(1000, 2000, 3000),
    });
    expect(buffer.length).toBe(4);
  });

  it('drops its first points, and forgets all once they are taken', () => {
    const buffer = bufferOf(['a', 0, 1, 1], ['b', 0, 2, 2], ['a', 0, 3, 3]);
    buffer.drop(1);
    expect([buffer.length, [...buffer.slice(0).value]]).toEqual([2, [2, 3]]);
    expect(buffer.take().names).toEqual(['b', 'a']);
    expect(buffer.take()).toMatchObject({ names: [], value: new Float64Array() });
    buffer.add('c', 0, 4, 4);
    expect(buffer.take()).toMatchObject({ names: ['c'], step: Int32Array.of(4), timeMs: Float64Array.of(NaN) });
  });

  it('keeps all of a thousand points, however often it grows', () => {
    const buffer = new PointBuffer();
    for (let step = 0; step < 1000; step += 1) buffer.add('a', 0, step, step / 2);
    const { step, value } = buffer.take();
    expect([step.length, step[999], value[999]]).toEqual([1000, 999, 499.5]);
  });
});

describe('a batch in a frame', () => {
  it('comes back as it was', () => {
    const batch = bufferOf(['a', 0, 1, NaN], ['b', 2, 3, 4]).take();
    expect(pointBatch(batch.names, arraysOfBatch(batch))).toEqual(batch);
  });

  it('is refused with columns of other lengths or types, and with points of no metric', () => {
    const { names, ...columns } = bufferOf(['a', 0, 1, 1]).take();
    const [nameIndex, epoch, step, value, timeMs] = arraysOfBatch({ names, ...columns });
    expect(() => pointBatch(names, [nameIndex, epoch, step, value])).toThrow('did not have its five columns');
    expect(() => pointBatch(names, [nameIndex, epoch, step, new Float64Array(2), timeMs])).toThrow('five columns');
    expect(() => pointBatch([], [nameIndex, epoch, step, value, timeMs])).toThrow('0 metrics has a point of metric 0');
  });
});

it('a column with room is the same, and a longer one begins with its elements', () => {
  const column = Float64Array.of(1, NaN);
  expect(withRoom(column, 2)).toBe(column);
  const longer = withRoom(column, 100);
  expect([longer.length >= 100, longer[0], longer[1], longer[2]]).toEqual([true, 1, NaN, 0]);
});
