import type { StackedClasses } from '../../metrics/stacks.ts';
import { totalWeight, weightedMean, type Weights } from '../../metrics/weights.ts';
import { type Evaluation, minimize, minimizeOnInterval, PRECISE } from '../../numeric/minimize.ts';
import { logMixture, logSoftmax, memberLogProbabilities } from './mixture.ts';

/** Temperatures from 0.01 to 100 are tried, as their logarithms. */
const [LOW, HIGH] = [Math.log(0.01), Math.log(100)];

/**
 * The temperature T of the ensemble's probabilities after averaging, softmax(log p̄ / T), with the least NLL.
 *
 * Sources: Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017; after averaging: Rahaman and Thiery,
 * "Uncertainty quantification and deep ensembles", NeurIPS 2021.
 *
 * @param targets class indices, shape `[N]`
 * @param weights of the samples, shape `[N]`: the NLL is weighted, here and in the other fits
 */
export function fitPooledTemperature(stack: StackedClasses, targets: Int32Array, weights?: Weights): number {
  return bestTemperature(logMixture(stack), stack.classes, targets, weights);
}

/** For each member the temperature that minimizes the NLL of that member, shape `[M]`. */
export function fitMemberTemperatures(stack: StackedClasses, targets: Int32Array, weights?: Weights): number[] {
  return Array.from({ length: stack.members }, (_, member) =>
    bestTemperature(memberLogProbabilities(stack, member, 1), stack.classes, targets, weights),
  );
}

/** One temperature before averaging, for all members, with the least NLL of the ensemble. */
export function fitSharedTemperature(stack: StackedClasses, targets: Int32Array, weights?: Weights): number {
  const rows = memberRows(stack);
  const nllAt = (logarithm: number): number =>
    ensembleSlope(rows, stack.classes, targets, new Float64Array(stack.members).fill(logarithm), weights).value;
  return Math.exp(minimizeOnInterval(nllAt, LOW, HIGH));
}

/**
 * A temperature for each member before averaging, all together with the least NLL of the ensemble, shape `[M]`: from the best shared one
 * by L-BFGS over their logarithms.
 *
 * Source: joint tuning in Fredsgaard and Schmidt, "On joint regularization and calibration in deep ensembles", TMLR 2025.
 */
export function fitJointTemperatures(stack: StackedClasses, targets: Int32Array, weights?: Weights): number[] {
  const rows = memberRows(stack);
  const start = new Float64Array(stack.members).fill(Math.log(fitSharedTemperature(stack, targets, weights)));
  const { place } = minimize((at) => ensembleSlope(rows, stack.classes, targets, at, weights), start, {
    ...PRECISE,
    lower: new Float64Array(stack.members).fill(LOW),
    upper: new Float64Array(stack.members).fill(HIGH),
  });
  return Array.from(place, Math.exp);
}

function bestTemperature(logits: Float64Array, classes: number, targets: Int32Array, weights?: Weights): number {
  const nllAt = (logarithm: number): number => {
    const logarithms = logSoftmax(logits, classes, Math.exp(logarithm));
    return -weightedMean(
      Float64Array.from(targets, (target, sample) => logarithms[sample * classes + target]),
      weights,
    );
  };
  return Math.exp(minimizeOnInterval(nllAt, LOW, HIGH));
}

function memberRows(stack: StackedClasses): Float64Array[] {
  return Array.from({ length: stack.members }, (_, member) => memberLogProbabilities(stack, member, 1));
}

/**
 * NLL of the mean of softmax(z_m / T_m), and its derivatives by log T_m:
 * −1/N sum_n s_mn (E_{p_mn}[z] − z_y) / T_m, where s_mn is member m's share of the ensemble's probability of the target.
 */
function ensembleSlope(
  rows: readonly Float64Array[],
  classes: number,
  targets: Int32Array,
  logTemperatures: Float64Array,
  weights?: Weights,
): Evaluation {
  const members = rows.length;
  const samples = targets.length;
  const own = new Float64Array(members * samples);
  const slopes = new Float64Array(members * samples);
  for (const [member, row] of rows.entries()) {
    const temperature = Math.exp(logTemperatures[member]);
    const logarithms = logSoftmax(row, classes, temperature);
    for (let sample = 0; sample < samples; sample++) {
      let expected = 0;
      for (let i = sample * classes; i < (sample + 1) * classes; i++) expected += Math.exp(logarithms[i]) * row[i];
      const target = sample * classes + targets[sample];
      own[member * samples + sample] = logarithms[target];
      slopes[member * samples + sample] = (expected - row[target]) / temperature;
    }
  }
  return mixtureSlope(own, slopes, members, samples, weights);
}

function mixtureSlope(
  own: Float64Array,
  slopes: Float64Array,
  members: number,
  samples: number,
  weights?: Weights,
): Evaluation {
  const gradient = new Float64Array(members);
  const total = totalWeight(samples, weights);
  let value = 0;
  for (let sample = 0; sample < samples; sample++) {
    let largest = -Infinity;
    for (let m = 0; m < members; m++) largest = Math.max(largest, own[m * samples + sample]);
    let sum = 0;
    for (let m = 0; m < members; m++) sum += Math.exp(own[m * samples + sample] - largest);
    const share = (weights?.[sample] ?? 1) / total;
    value -= share * (largest + Math.log(sum / members));
    for (let m = 0; m < members; m++) {
      const index = m * samples + sample;
      gradient[m] -= share * (Math.exp(own[index] - largest) / sum) * slopes[index];
    }
  }
  return { value, gradient };
}
