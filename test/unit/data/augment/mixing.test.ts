import { describe, expect, it } from 'vitest';
import { drawBeta, mixBatch } from '../../../../workers/data/augment/mixing.ts';
import type { Batch } from '../../../../workers/data/dataset.ts';
import { Generator } from '../../../../workers/random/index.ts';

/** Images of 4 × 4 pixels. Image i has the value i everywhere, the target i, and the weight 10 · i. */
const batch: Batch = {
  features: Float32Array.from({ length: 80 }, (_, i) => Math.floor(i / 16)),
  featureShape: [5, 4, 4, 1],
  targets: Int32Array.of(0, 1, 2, 3, 4),
  targetShape: [5],
  weights: Float32Array.of(0, 10, 20, 30, 40),
  extraInputs: { age: { shape: [], values: Float32Array.of(0, 1, 2, 3, 4) } },
};

const mixedWith = (options: { mixup: number; cutmix: number }, seed: number) =>
  mixBatch(batch, options, { generator: new Generator(seed, 'mix'), target: new Float32Array(80) });

describe('mixBatch', () => {
  it('mixup: weighs the values of a sample and its partner with the share of their targets', () => {
    const { features, mixed, targets, extraInputs } = mixedWith({ mixup: 1, cutmix: 0 }, 3);
    const { share = Number.NaN, partner } = mixed ?? {};
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(1);
    expect(targets).toEqual(batch.targets);
    expect(extraInputs?.age).toEqual({
      shape: [],
      values: Float32Array.from(partner?.targets ?? [], (other, own) => share * own + (1 - share) * other),
    });
    expect([...(partner?.targets ?? [])].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
    expect(partner?.weights).toEqual(Float32Array.from(partner?.targets ?? [], (target) => 10 * target));
    features.forEach((value, i) => {
      const sample = Math.floor(i / 16);
      expect(value).toBeCloseTo(share * sample + (1 - share) * (partner?.targets[sample] ?? 0), 5);
    });
  });

  it('CutMix: the share is that of the pixels that stay', () => {
    for (let seed = 0; seed < 30; seed++) {
      const { features, mixed } = mixedWith({ mixup: 0, cutmix: 1 }, seed);
      const partners = mixed?.partner.targets ?? new Int32Array(0);
      partners.forEach((partner, sample) => {
        const own = features.subarray(sample * 16, sample * 16 + 16);
        expect(own.every((value) => value === sample || value === partner)).toBe(true);
        expect(own.filter((value) => value === sample).length / 16).toBe(partner === sample ? 1 : mixed?.share);
      });
    }
  });

  it('CutMix: pastes the same rectangle into further images of the size, and weighs other inputs', () => {
    const extraInputs = {
      depth: { shape: [4, 4, 1], values: batch.features.map((value) => 100 + value) },
      thumbnail: { shape: [2, 2, 1], values: Float32Array.from({ length: 20 }, (_, i) => Math.floor(i / 4)) },
    };
    const generator = new Generator(4, 'mix');
    const given = { ...batch, extraInputs };
    const mixed = mixBatch(given, { mixup: 0, cutmix: 1 }, { generator, target: new Float32Array(80) });
    expect(mixed.extraInputs?.depth.values).toEqual(mixed.features.map((value) => 100 + value));
    const { share = NaN, partner } = mixed.mixed ?? {};
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(1);
    mixed.extraInputs?.thumbnail.values.forEach((value, i) => {
      const own = Math.floor(i / 4);
      expect(value).toBeCloseTo(share * own + (1 - share) * (partner?.targets[own] ?? NaN), 5);
    });
    // What was given stays as it is.
    expect(extraInputs.depth.values[0]).toBe(100);
  });

  it('with both, either in about half of the batches', () => {
    const isMixup = Array.from({ length: 100 }, (_, seed) =>
      mixedWith({ mixup: 1, cutmix: 1 }, seed).features.some((value) => !Number.isInteger(value)),
    );
    expect(isMixup.filter(Boolean).length).toBeGreaterThan(30);
    expect(isMixup.filter(Boolean).length).toBeLessThan(70);
  });
});

describe('drawBeta', () => {
  it.each([0.2, 1, 3])('has mean 1/2 and variance 1 / (4 (2α + 1)) for α = %s', (alpha) => {
    const generator = new Generator(5, 'beta');
    const draws = Array.from({ length: 4000 }, () => drawBeta(alpha, generator));
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    const variance = draws.reduce((sum, draw) => sum + (draw - mean) ** 2, 0) / draws.length;
    expect(mean).toBeCloseTo(0.5, 1);
    expect(Math.abs(variance * 4 * (2 * alpha + 1) - 1)).toBeLessThan(0.06);
  });
});
