import { totalWeight, type Weights } from '../metrics/weights.ts';
import { type Evaluation, minimize, PRECISE } from '../numeric/minimize.ts';
import { fitPooledTemperature } from './calibration/fit-temperature.ts';
import { priorShare } from './calibration/judge.ts';
import { conformalQuantile } from './conformal/fit-conformal.ts';
import { countedWeights, type LabelSamples } from './held-out.ts';
import type { ConformalSets } from './schema.ts';
import { asPairs, type LabelCalibration, pooledLogits, sigmoid, softplus } from './label-answers.ts';

/** Ways to calibrate labels: one temperature for all, one for each, or Platt's scale and bias for each. */
export const labelCalibrations = ['label-temperature', 'label-temperatures', 'platt'] as const;
export type LabelCalibrationMethod = (typeof labelCalibrations)[number];

/** One label's part of the samples, or all labels one after the other. */
interface States {
  /** Pooled logits. */
  logits: Float64Array;
  isPresent: Uint8Array;
  weights: Weights;
}

/**
 * Fits a calibration of the ensemble's probabilities of labels, after averaging. Targets that do not count are left
 * out.
 *
 * @param prior labels that count as seen, with the states that the uncalibrated answers expect; 0: none
 */
export function fitLabelCalibration(
  method: LabelCalibrationMethod,
  samples: LabelSamples,
  prior = 0,
): LabelCalibration {
  const labels = samples.stack.classes;
  const all = statesOf(samples);
  const each = Array.from({ length: labels }, (_, label) => statesOfLabel(all, label, labels));
  const none = Array.from({ length: labels }, () => 0);
  switch (method) {
    case 'label-temperature': {
      const scale = 1 / temperatureOf(all, prior);
      return { method: 'labels', fit: 'shared', scale: none.map(() => scale), bias: none };
    }
    case 'label-temperatures':
      return { method: 'labels', fit: 'each', scale: each.map((own) => 1 / temperatureOf(own, prior)), bias: none };
    case 'platt': {
      const found = each.map((own) => fitPlatt(own, prior));
      return {
        method: 'labels',
        fit: 'platt',
        scale: found.map(([scale]) => scale),
        bias: found.map(([, bias]) => bias),
      };
    }
  }
}

/**
 * Fits for each label the threshold of 1 − p that a share 1 − α of the samples that have it do not exceed. Infinity
 * where too few have it.
 *
 * @param probabilities calibrated, shape `[N, L]`
 */
export function fitLabelSets(alpha: number, probabilities: Float64Array, samples: LabelSamples): ConformalSets {
  const labels = samples.stack.classes;
  const weights = countedWeights(samples);
  const isWeighted = samples.weights !== undefined;
  const found = Array.from({ length: labels }, (_, label) => {
    const places = Array.from({ length: probabilities.length / labels }, (_, sample) => sample * labels + label).filter(
      (index) => samples.targets[index] === 1 && weights[index] > 0,
    );
    const scores = Float64Array.from(places, (index) => 1 - probabilities[index]);
    const own = isWeighted ? Float64Array.from(places, (index) => weights[index]) : undefined;
    return { threshold: conformalQuantile(scores, alpha, own), count: places.length };
  });
  return {
    kind: 'sets',
    method: 'thr',
    alpha,
    thresholds: found.map(({ threshold }) => threshold),
    isClassConditional: true,
    penalty: 0,
    freeRanks: 0,
    counts: found.map(({ count }) => count),
  };
}

function statesOf(samples: LabelSamples): States {
  const isPresent = Uint8Array.from({ length: samples.targets.length }, (_, index) =>
    Number(samples.targets[index] === 1),
  );
  return { logits: pooledLogits(samples.stack), isPresent, weights: countedWeights(samples) };
}

function statesOfLabel({ logits, isPresent, weights }: States, label: number, labels: number): States {
  const isOwn = (_: number, index: number): boolean => index % labels === label;
  return { logits: logits.filter(isOwn), isPresent: isPresent.filter(isOwn), weights: weights.filter(isOwn) };
}

/** 1 where no target counts. */
function temperatureOf({ logits, isPresent, weights }: States, prior: number): number {
  if (weights.every((weight) => weight === 0)) return 1;
  const stack = asPairs({ members: 1, samples: logits.length, classes: 1, logits: Float32Array.from(logits) });
  const share = priorShare(prior, logits.length, weights);
  return fitPooledTemperature({ stack, targets: Int32Array.from(isPresent), weights, share });
}

/**
 * Scale and bias of σ(a z + b) with the least cross-entropy to the targets (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2) in
 * place of 1 and 0, which keeps both finite where z separates the samples.
 *
 * Source: Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods",
 * 1999; the same as scikit-learn's `_sigmoid_calibration`.
 */
function fitPlatt({ logits, isPresent, weights }: States, prior: number): [number, number] {
  const total = totalWeight(weights.length, weights);
  if (total === 0) return [1, 0];
  const present = weights.reduce((sum, weight, index) => sum + weight * isPresent[index], 0);
  const [high, low] = [(present + 1) / (present + 2), 1 / (total - present + 2)];
  const ofPrior = priorShare(prior, weights.length, weights);
  const slopeAt = ([scale, bias]: Float64Array): Evaluation => {
    const gradient = new Float64Array(2);
    let value = 0;
    logits.forEach((z, index) => {
      const share = weights[index] / total;
      if (share === 0) return;
      const target = ((isPresent[index] === 1 ? high : low) + ofPrior * sigmoid(z)) / (1 + ofPrior);
      const mapped = scale * z + bias;
      value += share * (softplus(mapped) - target * mapped);
      const residual = share * (sigmoid(mapped) - target);
      gradient[0] += residual * z;
      gradient[1] += residual;
    });
    return { value, gradient };
  };
  const [scale, bias] = minimize(slopeAt, Float64Array.of(1, 0), PRECISE).place;
  return [scale, bias];
}
