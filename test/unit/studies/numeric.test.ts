import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cholesky, invert, solveLower, solveUpper } from '../../../core/numeric/cholesky.ts';
import { minimize } from '../../../core/numeric/minimize.ts';

describe('cholesky', () => {
  // 4 12 -16 / 12 37 -43 / -16 -43 98 has the factor 2 / 6 1 / -8 5 3.
  const matrix = Float64Array.of(4, 12, -16, 12, 37, -43, -16, -43, 98);

  it('factors, solves and inverts by hand', () => {
    const factor = cholesky(matrix, 3) ?? new Float64Array();
    expect([...factor]).toEqual([2, 0, 0, 6, 1, 0, -8, 5, 3]);
    const vector = Float64Array.of(0, 6, 39);
    solveLower(factor, vector);
    expect([...vector]).toEqual([0, 6, 3]);
    solveUpper(factor, vector);
    // A x = b with x = (28.583..., -7.666..., 1.333...) rounded: checked by the product below.
    const product = [0, 1, 2].map((row) =>
      vector.reduce((sum, value, column) => sum + matrix[row * 3 + column] * value, 0),
    );
    for (const [index, value] of [0, 6, 39].entries()) expect(product[index]).toBeCloseTo(value, 9);
    const inverse = invert(factor, 3);
    expect(inverse[8]).toBeCloseTo(1 / 9, 12);
  });

  it('refuses a matrix that is not positive definite', () =>
    expect(cholesky(Float64Array.of(1, 2, 2, 1), 2)).toBeNull());
});

describe('minimize', () => {
  const rosenbrock = ([x, y]: Float64Array): { value: number; gradient: Float64Array } => ({
    value: (1 - x) ** 2 + 100 * (y - x * x) ** 2,
    gradient: Float64Array.of(-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)),
  });

  it("finds the minimum of Rosenbrock's function", () => {
    const { place } = minimize(rosenbrock, Float64Array.of(-1.2, 1), { iterations: 500, tolerance: 1e-8 });
    expect(place[0]).toBeCloseTo(1, 6);
    expect(place[1]).toBeCloseTo(1, 6);
  });

  it('keeps within bounds: with x <= 0.5 the least is at (0.5, 0.25)', () => {
    const { place } = minimize(rosenbrock, Float64Array.of(-1.2, 1), {
      lower: Float64Array.of(-2, -2),
      upper: Float64Array.of(0.5, 2),
      iterations: 500,
      tolerance: 1e-8,
    });
    expect(place[0]).toBe(0.5);
    expect(place[1]).toBeCloseTo(0.25, 6);
  });

  it('solves quadratic functions with bounds coordinate by coordinate', () => {
    const coordinate = fc.double({ min: -3, max: 3, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(coordinate, fc.double({ min: 0.1, max: 50, noNaN: true })), { minLength: 1, maxLength: 6 }),
        (parts) => {
          const evaluate = (place: Float64Array): { value: number; gradient: Float64Array } => ({
            value: parts.reduce((sum, [centre, weight], index) => sum + (weight * (place[index] - centre) ** 2) / 2, 0),
            gradient: place.map((value, index) => parts[index][1] * (value - parts[index][0])),
          });
          const { place } = minimize(evaluate, new Float64Array(parts.length), {
            lower: new Float64Array(parts.length).fill(-1),
            upper: new Float64Array(parts.length).fill(1),
            iterations: 300,
            tolerance: 1e-9,
          });
          for (const [index, [centre]] of parts.entries())
            expect(place[index]).toBeCloseTo(Math.min(Math.max(centre, -1), 1), 5);
        },
      ),
      { seed: 15 },
    );
  });

  it('stays where no step helps', () => {
    const { place, value } = minimize(() => ({ value: Infinity, gradient: Float64Array.of(1) }), Float64Array.of(3));
    expect([place[0], value]).toEqual([3, Infinity]);
  });
});
