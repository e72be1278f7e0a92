import { describe, expect, it } from 'vitest';
import { createDataset } from '../../../workers/data/dataset.ts';
import type { MemberOutputs } from '../../../workers/member/predictions.ts';
import { areImages, corrupted } from '../../../workers/postprocessing/corruptions.ts';
import { heldOutSamples } from '../../../workers/postprocessing/held-out-samples.ts';

const plain = { name: 'held out', featureShape: [1], features: Float32Array.of(1, 2, 3) };

function outputs(width: number, kind: MemberOutputs['kind'] = 'logits', samples = 3): MemberOutputs {
  const values = Float32Array.from({ length: 2 * samples * width }, (_, index) => index);
  return { kind, ranks: [0, 1], samples, width, values: [values] };
}

describe('held-out samples', () => {
  it("leave out samples of no weight, and keep the others' weights", () => {
    const dataset = createDataset({ ...plain, targets: Int32Array.of(0, 1, 0), weights: Float32Array.of(1, 0, 2) });
    expect(heldOutSamples(outputs(2), dataset, 'classification', null)).toEqual({
      kind: 'classes',
      stack: { members: 2, samples: 2, classes: 2, logits: Float32Array.of(0, 1, 4, 5, 6, 7, 10, 11) },
      targets: Int32Array.of(0, 0),
      weights: Float64Array.of(1, 2),
    });
  });

  it('are the steps of sequences, without those that a mask excludes', () => {
    const targets = Int32Array.of(0, 1, 1, 0, 0, 1);
    const dataset = createDataset({ ...plain, targets, targetShape: [2], mask: Uint8Array.of(1, 0, 1, 1, 0, 0) });
    const samples = heldOutSamples(outputs(2, 'logits', 6), dataset, 'classification', null);
    expect(samples.targets).toEqual(Int32Array.of(0, 1, 0));
    expect(samples).toMatchObject({
      stack: { samples: 3, logits: Float32Array.of(0, 1, 4, 5, 6, 7, 12, 13, 16, 17, 18, 19) },
      owners: Int32Array.of(0, 1, 1),
    });
  });

  it('belong to the groups of their data set, which fits and their judges do not share', () => {
    const groups = Int32Array.of(5, 6, 5);
    const dataset = createDataset({ ...plain, targets: Int32Array.of(0, 1, 0), groups });
    expect(heldOutSamples(outputs(2), dataset, 'classification', null).owners).toEqual(groups);
    const steps = createDataset({ ...plain, targets: new Int32Array(6), targetShape: [2], groups });
    expect(heldOutSamples(outputs(2, 'logits', 6), steps, 'classification', null).owners).toEqual(
      Int32Array.of(5, 5, 6, 6, 5, 5),
    );
  });

  it('keep several values of a sample together', () => {
    const dataset = createDataset({ ...plain, targets: Float32Array.of(1, 2, 3, 4, 5, 6) });
    const samples = heldOutSamples(outputs(2, 'values'), dataset, 'regression', null);
    expect(samples).toMatchObject({ kind: 'values', columns: 2, variances: null, means: { members: 2, samples: 6 } });
    const holes = createDataset({ ...dataset, mask: Uint8Array.of(1, 0, 0, 0, 1, 1) });
    expect(heldOutSamples(outputs(2, 'values'), holes, 'regression', null)).toMatchObject({
      means: { members: 2, samples: 4 },
      targets: Float32Array.of(1, 2, 5, 6),
      counted: Uint8Array.of(1, 0, 1, 1),
    });
  });

  it('of labels keep what a mask says of each, and of counts have the rate as variance', () => {
    const targets = Float32Array.of(0, 1, 1, 1, 0, 0);
    const dataset = createDataset({ ...plain, targets, mask: Uint8Array.of(1, 0, 1, 1, 0, 0) });
    expect(heldOutSamples(outputs(2, 'label-logits'), dataset, 'multi-label', null)).toEqual({
      kind: 'labels',
      stack: { members: 2, samples: 2, classes: 2, logits: Float32Array.of(0, 1, 2, 3, 6, 7, 8, 9) },
      targets: Float32Array.of(0, 1, 1, 1),
      counted: Uint8Array.of(1, 0, 1, 1),
    });
    const counts = createDataset({ ...plain, targets: Float32Array.of(1, 0, 3) });
    const stack = { members: 2, samples: 3, values: Float32Array.of(0, 1, 2, 3, 4, 5) };
    expect(heldOutSamples(outputs(1, 'values'), counts, 'poisson-regression', null)).toMatchObject({
      means: stack,
      variances: stack,
    });
  });

  it('are refused where members held out different ones, and where none counts', () => {
    const dataset = createDataset({ ...plain, targets: Int32Array.of(0, 1, 0) });
    const divided = { ...dataset, heldOutBy: Int32Array.of(0, 1, 0) };
    expect(() => heldOutSamples(outputs(2), divided, 'classification', null)).toThrow('--split test');
    const masked = { ...dataset, mask: Uint8Array.of(0, 0, 0) };
    expect(() => heldOutSamples(outputs(2), masked, 'classification', null)).toThrow('there is nothing to fit');
  });
});

describe('corrupted images', () => {
  const image = Float32Array.from({ length: 32 }, (_, index) => (index === 9 ? 3 : 1));
  const dataset = createDataset({
    name: 'images',
    featureShape: [4, 4, 1],
    features: image,
    targets: Int32Array.of(0, 1),
    classCount: 2,
  });

  it('have lower contrast around the mean', () => {
    const { features, name } = corrupted(dataset, 'contrast', 1, 7);
    // The first image's mean is 1 + 2/16; the deviation of each pixel is multiplied by 0.4.
    expect(name).toBe('contrast 1');
    expect(features[9]).toBeCloseTo(1.125 + 0.4 * 1.875, 6);
    expect(features[0]).toBeCloseTo(1.125 - 0.4 * 0.125, 6);
    expect([...features.subarray(16)]).toEqual(Array.from({ length: 16 }, () => 1));
  });

  it('are blurred by weights whose sum is 1, with equal neighbours on both sides', () => {
    const { features } = corrupted(dataset, 'gaussian-blur', 5, 7);
    const around = [features[8], features[10], features[5], features[13]];
    around.forEach((value) => expect(value).toBeCloseTo(around[0], 6));
    expect(features[9]).toBeLessThan(3);
    expect(features[9]).toBeGreaterThan(around[0]);
    expect(features[31]).toBeCloseTo(1, 6);
  });

  it('have the same noise for the same seed, within the range of the values', () => {
    const [first, second, other] = [7, 7, 8].map((seed) => corrupted(dataset, 'gaussian-noise', 5, seed).features);
    expect(first).toEqual(second);
    expect(first).not.toEqual(other);
    expect(Math.min(...first)).toBeGreaterThanOrEqual(1);
    expect(Math.max(...first)).toBeLessThanOrEqual(3);
  });

  it('of bytes are floats that batches do not divide again', () => {
    const bytes = createDataset({ ...dataset, features: Uint8Array.from(image, (value) => 51 * value) });
    const { features } = corrupted(bytes, 'contrast', 1, 7);
    expect(features).toBeInstanceOf(Float32Array);
    expect(features[9]).toBeCloseTo((1.125 + 0.4 * 1.875) / 5, 6);
    expect([areImages(bytes), areImages({ ...bytes, featureShape: [16] })]).toEqual([true, false]);
  });
});
