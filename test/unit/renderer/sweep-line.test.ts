import { describe, expect, it } from 'vitest';
import { meanLine } from '../../../src-renderer/views/compare/compared-line.ts';

function lineOf(step: number[], y: number[]) {
  return {
    x: {
      step: Float64Array.from(step),
      epoch: Float64Array.from(step, (value) => value / 10),
      time: Float64Array.from(step, (value) => value * 2),
    },
    y: Float64Array.from(y),
    length: step.length,
  };
}

describe('the mean line of a sweep', () => {
  it('is the mean at each step, in an area of one standard error', () => {
    const { x, y, length, band } = meanLine([
      lineOf([10, 20], [1, 4]),
      lineOf([10, 20], [2, 4]),
      lineOf([10, 20], [3, 4]),
    ]);
    expect(length).toBe(2);
    expect([...x.step]).toEqual([10, 20]);
    expect([...x.epoch]).toEqual([1, 2]);
    expect([...(x.time ?? [])]).toEqual([20, 40]);
    expect([...y]).toEqual([2, 4]);
    // s = 1, so 1 / √3.
    expect(band?.lower[0]).toBeCloseTo(2 - 0.577_350_269, 8);
    expect(band?.upper[0]).toBeCloseTo(2 + 0.577_350_269, 8);
    expect([band?.lower[1], band?.upper[1]]).toEqual([4, 4]);
  });

  it('interpolates between the points of a run, and continues with the others after its end', () => {
    const { x, y, band } = meanLine([lineOf([0, 20], [0, 2]), lineOf([0, 10, 30], [2, 3, NaN])]);
    expect([...x.step]).toEqual([0, 10, 20, 30]);
    // At 10: 1 and 3. At 20 the other run's value is between 3 and NaN. At 30 no run has one.
    expect([...y]).toEqual([1, 2, 2, NaN]);
    expect(band?.lower[2]).toBeNaN();
  });
});
