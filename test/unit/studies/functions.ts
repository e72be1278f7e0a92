import { suggest, type Sampler } from '../../../core/studies/samplers/index.ts';
import { orderSpace, type Assignment, type Space } from '../../../core/studies/space/space.ts';
import type { Trial } from '../../../core/studies/trial.ts';

/** A function to minimize, with its least value. */
export interface TestFunction {
  space: Space;
  minimum: number;
  value: (values: Assignment) => number;
}

/** Dixon and Szegő, 1978: least at (-π, 12.275), (π, 2.275) and (9.42478, 2.475). */
export const branin: TestFunction = {
  space: orderSpace({ x: { kind: 'float', low: -5, high: 10 }, y: { kind: 'float', low: 0, high: 15 } }),
  minimum: 0.39788735772973816,
  value: ({ x: givenX, y: givenY }) => {
    const [x, y] = [Number(givenX), Number(givenY)];
    const [b, c, t] = [5.1 / (4 * Math.PI ** 2), 5 / Math.PI, 1 / (8 * Math.PI)];
    return (y - b * x * x + c * x - 6) ** 2 + 10 * (1 - t) * Math.cos(x) + 10;
  },
};

const weights = [1, 1.2, 3, 3.2];
const widths = [
  [10, 3, 17, 3.5, 1.7, 8],
  [0.05, 10, 17, 0.1, 8, 14],
  [3, 3.5, 1.7, 10, 17, 8],
  [17, 8, 0.05, 10, 0.1, 14],
];
const centres = [
  [1312, 1696, 5569, 124, 8283, 5886],
  [2329, 4135, 8307, 3736, 1004, 9991],
  [2348, 1451, 3522, 2883, 3047, 6650],
  [4047, 8828, 8732, 5743, 1091, 381],
];

/** Hartman, 1973: least at (0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573). */
export const hartmann6: TestFunction = {
  space: orderSpace(Object.fromEntries(widths[0].map((_, index) => [`x${index}`, { kind: 'float', low: 0, high: 1 }]))),
  minimum: -3.322368011415515,
  value: (values) =>
    -weights.reduce((sum, weight, row) => {
      const distance = widths[row].reduce(
        (total, width, column) => total + width * (Number(values[`x${column}`]) - 1e-4 * centres[row][column]) ** 2,
        0,
      );
      return sum + weight * Math.exp(-distance);
    }, 0),
};

/** The space of which Optuna's densities and importances are recorded. */
export const everyKind = orderSpace({
  rate: { kind: 'log', low: 1e-5, high: 30 },
  momentum: { kind: 'float', low: -1, high: 2 },
  layers: { kind: 'int', low: 1, high: 9 },
  units: { kind: 'log-int', low: 16, high: 64 },
  dropout: { kind: 'step', low: 0, high: 0.5, step: 0.1 },
  width: { kind: 'int', low: 10, high: 50, step: 4 },
  kind: { kind: 'choice', choices: ['a', 'b', 'c'] },
});

/** A finished trial of one objective. */
export function completed(number: number, values: Assignment, objective: number): Trial {
  return { number, state: 'complete', values, objectives: [objective], reports: [] };
}

/** The trials of a study that runs one after the other. */
export function runStudy(sampler: Sampler, { space, value }: TestFunction, seed: number, count: number): Trial[] {
  const trials: Trial[] = [];
  for (let number = 0; number < count; number++) {
    const values = suggest(sampler, { space, directions: ['minimize'], seed, trials, number });
    if (values === null) break;
    trials.push(completed(number, values, value(values)));
  }
  return trials;
}

/** How far the best trial stays above the minimum. */
export function regretOf(trials: readonly Trial[], { minimum }: TestFunction): number {
  return Math.min(...trials.map(({ objectives }) => objectives?.[0] ?? Infinity)) - minimum;
}
