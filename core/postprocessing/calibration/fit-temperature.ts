import type { StackedClasses } from '../../metrics/stacks.ts';
import { totalWeight, type Weights } from '../../metrics/weights.ts';
import { type Evaluation, minimize, minimizeOnInterval, PRECISE } from '../../numeric/minimize.ts';
import type { Calibration } from '../schema.ts';
import { logMixture, logSoftmax, memberLogProbabilities } from './mixture.ts';
import { softTargets } from './judge.ts';

/** Temperatures from 0.01 to 100 are tried, as their logarithms. */
const [LOW, HIGH] = [Math.log(0.01), Math.log(100)];

/** Whether a temperature is the least or the largest that is tried, so that the best may lie beyond. */
export const isAtEnd = (temperature: number): boolean => Math.log(temperature) - LOW < 1e-6 || isLargest(temperature);

/** Whether it is the largest that is tried, where all classes are equally probable. */
export const isLargest = (temperature: number): boolean => HIGH - Math.log(temperature) < 1e-6;

/** The temperatures of a calibration; empty where it is another one. */
export function temperaturesOf(calibration: Calibration): number[] {
  switch (calibration.method) {
    case 'pooled-temperature':
      return [calibration.temperature];
    case 'temperature':
      return [...new Set(calibration.temperatures)];
    case 'labels':
      return calibration.fit === 'platt' ? [] : [...new Set(calibration.scale.map((scale) => 1 / scale))];
    default:
      return [];
  }
}

/** What the fits of temperatures take. */
interface Fitting {
  /** Probabilities or logits, shape `[M, N, K]`. */
  stack: StackedClasses;
  /** Class indices, shape `[N]`. */
  targets: Int32Array;
  /** The weights of the samples in the NLL, shape `[N]`. */
  weights?: Weights;
  /** Weight of the uncalibrated answers beside the samples (`priorShare`). */
  share: number;
}

/**
 * The temperature T of the ensemble's probabilities after averaging, softmax(log p̄ / T), with the least NLL.
 *
 * Sources: Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017; after averaging:
 * Rahaman and Thiery, "Uncertainty quantification and deep ensembles", NeurIPS 2021.
 */
export function fitPooledTemperature(fitting: Fitting): number {
  return bestTemperature(logMixture(fitting.stack), fitting);
}

/** For each member the temperature that minimizes the NLL of that member, shape `[M]`. */
export function fitMemberTemperatures(fitting: Fitting): number[] {
  return memberRows(fitting.stack).map((row) => bestTemperature(row, fitting));
}

/** One temperature before averaging, for all members, with the least NLL of the ensemble. */
export function fitSharedTemperature(fitting: Fitting): number {
  const slopeAt = ensembleSlope(fitting);
  const { members } = fitting.stack;
  return Math.exp(minimizeOnInterval((at) => slopeAt(new Float64Array(members).fill(at)).value, LOW, HIGH));
}

/**
 * A temperature for each member before averaging, all together with the least NLL of the ensemble, shape `[M]`: from
 * the best shared one by L-BFGS over their logarithms.
 *
 * Source: joint tuning in Fredsgaard and Schmidt, "On joint regularization and calibration in deep ensembles", TMLR
 * 2025.
 */
export function fitJointTemperatures(fitting: Fitting): number[] {
  const { members } = fitting.stack;
  const start = new Float64Array(members).fill(Math.log(fitSharedTemperature(fitting)));
  const { place } = minimize(ensembleSlope(fitting), start, {
    ...PRECISE,
    lower: new Float64Array(members).fill(LOW),
    upper: new Float64Array(members).fill(HIGH),
  });
  return Array.from(place, Math.exp);
}

function bestTemperature(logits: Float64Array, { stack: { classes }, targets, weights, share }: Fitting): number {
  const soft = softTargets(targets, logits, share);
  const total = totalWeight(targets.length, weights);
  const nllAt = (logarithm: number): number => {
    const logarithms = logSoftmax(logits, classes, Math.exp(logarithm));
    let sum = 0;
    for (let index = 0; index < soft.length; index++) {
      if (soft[index] > 0) sum -= (weights?.[Math.floor(index / classes)] ?? 1) * soft[index] * logarithms[index];
    }
    return sum / total;
  };
  return Math.exp(minimizeOnInterval(nllAt, LOW, HIGH));
}

function memberRows(stack: StackedClasses): Float64Array[] {
  return Array.from({ length: stack.members }, (_, member) => memberLogProbabilities(stack, member, 1));
}

/**
 * NLL of the mean of softmax(z_m / T_m) as a function of the logarithms of all T_m, with its derivatives: −1/N sum_n
 * sum_k t_nk s_mnk (E_{p_mn}[z] − z_mnk) / T_m, where s_mnk is member m's share of the ensemble's probability of class
 * k.
 */
function ensembleSlope({ stack, targets, weights, share }: Fitting): (logTemperatures: Float64Array) => Evaluation {
  const { members, classes } = stack;
  const rows = memberRows(stack);
  const soft = softTargets(targets, logMixture(stack), share);
  const total = totalWeight(targets.length, weights);
  return (logTemperatures) => {
    const scaled = rows.map((row, member) => logSoftmax(row, classes, Math.exp(logTemperatures[member])));
    const expected = scaled.map((own, member) => expectationOf(rows[member], own, classes));
    const gradient = new Float64Array(members);
    let value = 0;
    for (let index = 0; index < soft.length; index++) {
      const weight = ((weights?.[Math.floor(index / classes)] ?? 1) * soft[index]) / total;
      if (weight === 0) continue;
      const largest = scaled.reduce((most, own) => Math.max(most, own[index]), -Infinity);
      const sum = scaled.reduce((all, own) => all + Math.exp(own[index] - largest), 0);
      value -= weight * (largest + Math.log(sum / members));
      scaled.forEach((own, member) => {
        const slope = expected[member][Math.floor(index / classes)] - rows[member][index];
        gradient[member] -= (weight * Math.exp(own[index] - largest - logTemperatures[member]) * slope) / sum;
      });
    }
    return { value, gradient };
  };
}

/** E_p[z] of each row, shape `[N]`. */
function expectationOf(row: Float64Array, logarithms: Float64Array, classes: number): Float64Array {
  const expected = new Float64Array(row.length / classes);
  row.forEach((z, index) => (expected[Math.floor(index / classes)] += Math.exp(logarithms[index]) * z));
  return expected;
}
