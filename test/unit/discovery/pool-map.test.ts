import { describe, expect, it } from 'vitest';
import { principalComponents, projectRows } from '../../../core/numeric/principal-components.ts';
import { Generator } from '../../../core/random/generator.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import { mapPool, placeByNeighbours } from '../../../workers/data/pool-map.ts';
import { readGolden } from '../../golden/read-golden.ts';

interface Recorded {
  width: number;
  values: number[];
  mean: number[];
  directions: number[];
  variances: number[];
  shares: number[];
  places: number[];
}

const recorded = readGolden('discovery/principal-components.json') as Record<'tall' | 'wide', Recorded>;

const closeTo = (values: readonly number[]): unknown => values.map((value) => expect.closeTo(value, 9) as unknown);

describe('principal components', () => {
  it.each(['tall', 'wide'] as const)('of a %s table are those of scikit-learn', (name) => {
    const { width, values, mean, directions, variances, shares, places } = recorded[name];
    const rows = { values: Float64Array.from(values), width };
    const found = principalComponents(rows, 3, { generator: new Generator(1, 'test') });
    expect([...found.mean]).toEqual(closeTo(mean));
    expect([...found.variances]).toEqual(closeTo(variances));
    expect([...found.variances].map((own) => own / found.totalVariance)).toEqual(closeTo(shares));
    expect([...found.directions]).toEqual(closeTo(directions));
    expect([...projectRows(found, rows)]).toEqual(closeTo(places));
  });

  it('are as many as the rows have directions', () => {
    // Points on a line: (0, 0), (1, 2), (2, 4).
    const rows = { values: Float64Array.of(0, 0, 1, 2, 2, 4), width: 2 };
    const { directions, variances } = principalComponents(rows, 2, { generator: new Generator(1, 'test') });
    expect([...variances]).toEqual(closeTo([5]));
    expect([...directions]).toEqual(closeTo([1 / Math.sqrt(5), 2 / Math.sqrt(5)]));
    expect(() =>
      principalComponents({ values: new Float64Array(2), width: 2 }, 1, { generator: new Generator(1, '') }),
    ).toThrow('at least two rows');
  });
});

describe('the place of a candidate among landmarks', () => {
  const landmarks = { places: Float64Array.of(0, 1, 4, 10), arranged: Float64Array.of(0, 0, 6, 0, 0, 9, 50, 50) };

  it('is the mean of the nearest ones, weighted by 1 / distance', () => {
    // 2 is at distance 2, 1 and 2 from the nearest three: weights 1/2, 1 and 1/2, of 2 in total.
    const [x, y] = placeByNeighbours(Float64Array.of(2), landmarks, 1, 3);
    expect(x).toBeCloseTo((1 * 6) / 2, 6);
    expect(y).toBeCloseTo((0.5 * 9) / 2, 6);
  });

  it('is that of a landmark at the same coordinates', () => {
    expect([...placeByNeighbours(Float64Array.of(4, 10), landmarks, 1, 3)]).toEqual([0, 9, 50, 50]);
  });
});

describe('the map of a pool', () => {
  const size = 90;
  const generator = new Generator(3, 'features');
  /** Three groups that lie 20 apart in each of 5 columns, with deviations of 1. */
  const features = Float32Array.from({ length: 5 * size }, (_, i) => 20 * (Math.floor(i / 5) % 3) + generator.normal());
  const pool = createDataset({ name: 'groups', featureShape: [5], features, targets: new Float32Array(size) });

  it('keeps groups together, and is the same for the same seed', () => {
    const map = mapPool(pool, 7);
    expect(map.explained[0]).toBeGreaterThan(0.9);
    expect(mapPool(pool, 7)).toEqual(map);
    for (const places of [map.pca, map.umap]) {
      for (let own = 0; own < size; own++) {
        const distances = Array.from({ length: size }, (_, other) =>
          Math.hypot(places[2 * own] - places[2 * other], places[2 * own + 1] - places[2 * other + 1]),
        );
        distances[own] = Infinity;
        expect(distances.indexOf(Math.min(...distances)) % 3).toBe(own % 3);
      }
    }
  });

  it('places all candidates where they do not differ', () => {
    const same = createDataset({
      name: 'same',
      featureShape: [2],
      features: new Float32Array(40),
      targets: new Float32Array(20),
    });
    const { pca, umap, explained } = mapPool(same, 7);
    expect([...pca]).toEqual(Array.from({ length: 40 }, () => 0));
    expect(umap.every(Number.isFinite)).toBe(true);
    expect(explained).toEqual([0, 0]);
  });
});
