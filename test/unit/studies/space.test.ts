import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  domainOf,
  fromUnit,
  holdsValue,
  levelsOf,
  type Parameter,
  toUnit,
  valueOfLevel,
} from '../../../core/studies/space/domain.ts';
import { searchSpaceSchema } from '../../../core/studies/space/schema.ts';
import { assign, checkAssignment, orderSpace } from '../../../core/studies/space/space.ts';

const numeric = fc
  .record({
    low: fc.integer({ min: 1, max: 50 }),
    width: fc.integer({ min: 1, max: 100 }),
    step: fc.integer({ min: 1, max: 7 }),
  })
  .chain(({ low, width, step }) =>
    fc.constantFrom<Parameter>(
      { kind: 'float', low: -low, high: width },
      { kind: 'log', low: low / 1000, high: low + width },
      { kind: 'int', low, high: low + width },
      { kind: 'int', low, high: low + Math.max(width, step), step },
      { kind: 'log-int', low, high: low + width },
      { kind: 'step', low: low / 10, high: (low + width) / 10, step: 0.1 },
    ),
  );
const parameter = fc.oneof(
  numeric,
  fc
    .uniqueArray(fc.oneof(fc.string(), fc.boolean(), fc.integer()), { minLength: 1, maxLength: 6 })
    .map((choices): Parameter => ({ kind: 'choice', choices })),
);

function faultsOf(space: unknown): string {
  const { error } = searchSpaceSchema.safeParse(space);
  return error === undefined
    ? 'none'
    : error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n');
}

describe('domains', () => {
  it('map the unit interval onto their values and back', () => {
    fc.assert(
      fc.property(parameter, fc.double({ min: 0, max: 1, noNaN: true }), (drawn, unit) => {
        const domain = domainOf(drawn);
        const value = fromUnit(domain, unit);
        expect(holdsValue(domain, value)).toBe(true);
        const again = fromUnit(domain, toUnit(domain, value));
        const rounded = (found: unknown): unknown => (typeof found === 'number' ? found.toPrecision(9) : found);
        expect(rounded(again)).toBe(rounded(value));
      }),
      { seed: 15 },
    );
  });

  it('give each step an equal share of the unit interval', () => {
    const domain = domainOf({ kind: 'step', low: 0, high: 0.5, step: 0.1 });
    expect(levelsOf(domain)).toBe(6);
    expect([0, 1, 2, 3, 4, 5].map((level) => valueOfLevel(domain, level))).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    const values = Array.from({ length: 600 }, (_, index) => fromUnit(domain, (index + 0.5) / 600));
    for (const value of [0, 0.1, 0.2, 0.3, 0.4, 0.5])
      expect(values.filter((other) => other === value)).toHaveLength(100);
  });

  it('draw the middle of a logarithmic range as its geometric mean', () => {
    expect(fromUnit(domainOf({ kind: 'log', low: 1e-4, high: 1 }), 0.5)).toBeCloseTo(0.01, 12);
  });

  it('lower the upper bound to the last step', () => {
    expect(domainOf({ kind: 'int', low: 1, high: 10, step: 4 })).toMatchObject({ high: 9 });
    expect(domainOf({ kind: 'step', low: 0, high: 1, step: 0.3 })).toMatchObject({ high: 0.9 });
  });
});

describe('searchSpaceSchema', () => {
  it('accepts every kind, and conditions', () => {
    const space = {
      momentum: { kind: 'float', low: 0, high: 0.99, when: { path: 'optimizer.kind', equals: ['sgd'] } },
      'optimizer.kind': { kind: 'choice', choices: ['sgd', 'adam'] },
      weightDecay: { kind: 'log', low: 1e-5, high: 30 },
      layers: { kind: 'int', low: 1, high: 4 },
      units: { kind: 'log-int', low: 16, high: 1024 },
      dropout: { kind: 'step', low: 0, high: 0.5, step: 0.1 },
    };
    expect(faultsOf(space)).toBe('none');
    expect(orderSpace(searchSpaceSchema.parse(space)).map(({ path }) => path)).toEqual([
      'optimizer.kind',
      'weightDecay',
      'layers',
      'units',
      'dropout',
      'momentum',
    ]);
  });

  it.each([
    [{}, 'A search needs at least one parameter'],
    [{ rate: { kind: 'float', low: 1, high: 1 } }, 'rate: float from 1 to 1 is empty: give the lower bound first'],
    [{ rate: { kind: 'log', low: 0, high: 1 } }, 'begins above 0. Raise the lower bound, or use float'],
    [{ units: { kind: 'int', low: 1, high: 4, step: 0 } }, 'The step is 0, but must be above 0'],
    [{ units: { kind: 'int', low: 1, high: 4, step: 5 } }, 'make it at most 3'],
    [{ act: { kind: 'choice', choices: ['relu', 'relu'] } }, 'The value "relu" stands there twice'],
    [{ a: { kind: 'int', low: 1, high: 2, when: { path: 'b', equals: [1] } } }, 'depends on b, which is not searched'],
    [
      { a: { kind: 'int', low: 1, high: 2, when: { path: 'b', equals: [3] } }, b: { kind: 'int', low: 1, high: 2 } },
      'depends on b being 3, which b never is',
    ],
    [
      { a: { kind: 'int', low: 1, high: 2, when: { path: 'b', equals: [1] } }, b: { kind: 'float', low: 1, high: 2 } },
      'which has no separate values',
    ],
    [
      {
        a: { kind: 'int', low: 1, high: 2, when: { path: 'b', equals: [1] } },
        b: { kind: 'int', low: 1, high: 2, when: { path: 'a', equals: [1] } },
      },
      'a: The conditions run in a circle, a → b → a',
    ],
  ])('refuses %j', (space, message) => expect(faultsOf(space)).toContain(message));
});

describe('assignments', () => {
  const space = orderSpace({
    kind: { kind: 'choice', choices: ['sgd', 'adam'] },
    momentum: { kind: 'float', low: 0, high: 1, when: { path: 'kind', equals: ['sgd'] } },
  });

  it('leave out what does not take part', () => {
    expect(assign(space, ({ path }) => (path === 'kind' ? 'adam' : 0.5))).toEqual({ kind: 'adam' });
    expect(assign(space, ({ path }) => (path === 'kind' ? 'sgd' : 0.5))).toEqual({ kind: 'sgd', momentum: 0.5 });
  });

  it.each([
    [{ kind: 'adam', rate: 1 }, 'rate is no parameter of this study. Its parameters are kind, momentum.'],
    [{ kind: 'lion' }, 'kind is "lion", but must be one of sgd, adam.'],
    [{ kind: 'sgd' }, 'momentum is missing: give it a number from 0 to 1.'],
    [{ kind: 'sgd', momentum: 2 }, 'momentum is 2, but must be a number from 0 to 1.'],
    [{ kind: 'adam', momentum: 0.5 }, 'momentum takes part only while kind is sgd: leave it out, or change kind.'],
  ])('refuse %j', (values, message) => expect(() => checkAssignment(space, values)).toThrow(message));

  it('accept complete values', () => expect(() => checkAssignment(space, { kind: 'sgd', momentum: 1 })).not.toThrow());
});
