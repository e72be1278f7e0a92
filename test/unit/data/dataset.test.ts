import { describe, expect, it } from 'vitest';
import { createDataset, createSplits, flattened, gatherBatch, subset, take } from '../../../workers/data/dataset.ts';

const indices = (...values: number[]) => Int32Array.from(values);

/** Three samples of shape [1, 2, 2]: two pixels of two channels. */
const images = createDataset({
  name: 'images',
  featureShape: [1, 2, 2],
  features: Uint8Array.of(0, 255, 51, 102, 255, 255, 0, 0, 153, 204, 51, 51),
  targets: Int32Array.of(2, 0, 1),
  classNames: ['a', 'b', 'c'],
  normalization: { mean: [0.5, 0.2], std: [0.5, 0.1] },
});

const pairs = createDataset({
  name: 'pairs',
  featureShape: [2],
  features: Float32Array.of(1, 10, 2, 20, 3, 30),
  targets: Float32Array.of(0.5, -0.5, 1.5, -1.5, 2.5, -2.5),
});

describe('gatherBatch', () => {
  it('scales bytes by 255, then normalizes each channel, in the order of the indices', () => {
    const batch = gatherBatch(images, indices(2, 0));
    // (153/255 - 0.5) / 0.5 = 0.2, (204/255 - 0.2) / 0.1 = 6, (51/255 - 0.5) / 0.5 = -0.6, (51/255 - 0.2) / 0.1 = 0
    const expected = [0.2, 6, -0.6, 0, -1, 8, -0.6, 2];
    expect(batch.featureShape).toEqual([2, 1, 2, 2]);
    expected.forEach((value, i) => expect(batch.features[i]).toBeCloseTo(value, 6));
    expect(batch.targets).toEqual(Int32Array.of(1, 2));
    expect(batch.targetShape).toEqual([2]);
  });

  it('gives exact quotients of bytes without normalization', () => {
    const raw = createDataset({ ...images, normalization: undefined });
    expect(gatherBatch(raw, indices(0)).features).toEqual(Float32Array.of(0, 1, 51 / 255, 102 / 255));
  });

  it('copies floats and keeps several targets per sample', () => {
    const batch = gatherBatch(pairs, indices(1, 1, 0));
    expect(batch.features).toEqual(Float32Array.of(2, 20, 2, 20, 1, 10));
    expect(batch.targets).toEqual(Float32Array.of(1.5, -1.5, 1.5, -1.5, 0.5, -0.5));
    expect(batch.targetShape).toEqual([3, 2]);
    batch.features.fill(0);
    expect(pairs.features[0]).toBe(1);
  });

  it('normalizes floats per column', () => {
    const normalized = createDataset({ ...pairs, normalization: { mean: [2, 10], std: [1, 10] } });
    expect(gatherBatch(normalized, indices(0, 2)).features).toEqual(Float32Array.of(-1, 0, 1, 2));
  });

  it('gives the same result for flattened images, whose last axis mixes pixels and channels', () => {
    const flat = flattened(images);
    expect(flat.featureShape).toEqual([4]);
    expect(flat.features).toBe(images.features);
    const order = indices(0, 1, 2);
    expect(gatherBatch(flat, order).features).toEqual(gatherBatch(images, order).features);
  });

  it.each([3, -1])('refuses sample %i of three', (index) => {
    expect(() => gatherBatch(pairs, indices(0, index))).toThrow(`Sample ${index} of "pairs" does not exist`);
  });
});

describe('subset and take', () => {
  it('subset copies samples in the requested order, including repeats', () => {
    const chosen = subset(images, indices(2, 2, 0, 1));
    expect(chosen.length).toBe(4);
    expect(chosen.features).toBeInstanceOf(Uint8Array);
    expect([...chosen.features.subarray(0, 4)]).toEqual([153, 204, 51, 51]);
    expect(chosen.targets).toEqual(Int32Array.of(1, 1, 2, 0));
    expect(chosen.classNames).toEqual(['a', 'b', 'c']);
  });

  it('take shares memory with its data set', () => {
    const first = take(pairs, 2);
    expect(first.length).toBe(2);
    expect(first.features.buffer).toBe(pairs.features.buffer);
    expect(first.targets).toEqual(Float32Array.of(0.5, -0.5, 1.5, -1.5));
  });

  it.each([0, 4, 1.5])('take refuses %f of three samples', (count) => {
    expect(() => take(pairs, count)).toThrow('whole number from 1 to 3');
  });
});

describe('createDataset', () => {
  const two = { name: 'two', featureShape: [1], features: Float32Array.of(1, 2) };

  it('counts classes by their names and freezes the result', () => {
    expect(images).toMatchObject({ length: 3, classCount: 3 });
    expect(Object.isFrozen(images) && Object.isFrozen(images.featureShape)).toBe(true);
  });

  it('names each mismatch', () => {
    expect(() => createDataset({ ...two, featureShape: [4], targets: Int32Array.of(0) })).toThrow('2 feature values');
    expect(() => createDataset({ ...two, targets: Int32Array.of(0, 1, 0, 1) })).toThrow('4 targets for 2 samples');
    expect(() => createDataset({ ...two, targets: Float32Array.of(1, 2, 3) })).toThrow('3 targets for 2 samples');
    expect(() => createDataset({ ...two, targets: Int32Array.of(0, 7), classCount: 7 })).toThrow(
      'sample 1 has label 7; with 7 classes, labels are whole numbers from 0 to 6',
    );
    const normalization = { mean: [0], std: [0] };
    expect(() => createDataset({ ...two, targets: Int32Array.of(0, 1), normalization })).toThrow('deviations [0]');
    const none = { name: 'none', featureShape: [1], features: new Float32Array(0), targets: new Float32Array(0) };
    expect(() => createDataset(none)).toThrow('not one or more samples');
  });

  it('refuses splits of different shapes', () => {
    expect(() => createSplits({ train: pairs, test: images })).toThrow(
      '"pairs" has samples of shape [2] and no classes, "images" [1, 2, 2] and 3 classes',
    );
  });
});
