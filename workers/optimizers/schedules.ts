import type { ScheduleConfig } from '../../core/protocol/run/config.ts';
import type { UpdateSettings } from './optimizers.ts';

type OneCycleConfig = Extract<ScheduleConfig, { kind: 'one-cycle' }>;

/** The position in training that a schedule depends on. */
export interface SchedulePosition {
  epoch: number;
  step: number;
  totalSteps: number;
}

/**
 * The settings of a step's update: its learning rate and, under `one-cycle`, its momentum.
 *
 * - `constant`: base
 * - `cosine`: base · (step + 1) / warmup during the warm-up, then floor + (base − floor) · (1 + cos(π t)) / 2, where t goes from
 *   0 to 1 over the steps that are left (Loshchilov and Hutter, 2017, "SGDR", eq. 5, without restarts)
 * - `step`: base · factor^⌊epoch / everyEpochs⌋
 * - `one-cycle`: see {@link oneCycleAt}
 */
export function settingsAt(schedule: ScheduleConfig, base: number, position: SchedulePosition): UpdateSettings {
  switch (schedule.kind) {
    case 'constant':
      return { learningRate: base };
    case 'cosine': {
      const { warmupSteps, floorFraction } = schedule;
      if (position.step < warmupSteps) return { learningRate: (base * (position.step + 1)) / warmupSteps };
      const span = Math.max(1, position.totalSteps - warmupSteps);
      const done = Math.min(1, (position.step - warmupSteps) / span);
      const floor = base * floorFraction;
      return { learningRate: floor + ((base - floor) * (1 + Math.cos(Math.PI * done))) / 2 };
    }
    case 'step':
      return { learningRate: base * schedule.factor ** Math.floor(position.epoch / schedule.everyEpochs) };
    case 'one-cycle': {
      const { rateFraction, momentum } = oneCycleAt(schedule, position);
      const learningRate = base * rateFraction;
      return schedule.cycleMomentum ? { learningRate, momentum } : { learningRate };
    }
  }
}

/** One phase of the cycle, from the end of the one before. Rates are fractions of the base rate. */
interface Phase {
  endStep: number;
  rates: readonly [from: number, to: number];
  momenta: readonly [from: number, to: number];
}

/**
 * The one-cycle schedule (Smith and Topin, 2018, "Super-convergence"), step by step like PyTorch's `OneCycleLR`. With S steps,
 * f `risingFraction`, d `startDivisor` and e `finalDivisor`, in fractions of the base rate:
 *
 * - 1/d → 1 until step f·S − 1, then 1 → 1/(d·e) until step S − 1; or, in three phases,
 * - 1/d → 1 until f·S − 1, 1 → 1/d until 2f·S − 2, 1/d → 1/(d·e) until S − 1.
 *
 * Momentum falls from `highMomentum` to `lowMomentum` while the rate rises, and rises while it falls. Within a phase both
 * follow half a cosine, or a line.
 */
export function oneCycleAt(
  config: OneCycleConfig,
  { step, totalSteps }: SchedulePosition,
): { rateFraction: number; momentum: number } {
  let startStep = 0;
  for (const { endStep, rates, momenta } of phasesOf(config, totalSteps)) {
    if (step <= endStep) {
      const span = endStep - startStep;
      const done = span > 0 ? (step - startStep) / span : 1;
      return { rateFraction: between(rates, done, config.anneal), momentum: between(momenta, done, config.anneal) };
    }
    startStep = endStep;
  }
  return { rateFraction: floorFraction(config), momentum: config.highMomentum };
}

/** The last rate as a fraction of the base rate: 1/(d·e). */
export function floorFraction({ startDivisor, finalDivisor }: OneCycleConfig): number {
  return 1 / (startDivisor * finalDivisor);
}

/** The step of the highest rate, which need not be whole. */
export function peakStep({ risingFraction }: OneCycleConfig, totalSteps: number): number {
  return risingFraction * totalSteps - 1;
}

function phasesOf(config: OneCycleConfig, totalSteps: number): Phase[] {
  const { startDivisor, threePhase, lowMomentum: low, highMomentum: high } = config;
  const first = 1 / startDivisor;
  const floor = floorFraction(config);
  const peak = peakStep(config, totalSteps);
  const lastStep = totalSteps - 1;
  const rise: Phase = { endStep: peak, rates: [first, 1], momenta: [high, low] };
  if (!threePhase) return [rise, { endStep: lastStep, rates: [1, floor], momenta: [low, high] }];
  return [
    rise,
    { endStep: 2 * peak, rates: [1, first], momenta: [low, high] },
    { endStep: lastStep, rates: [first, floor], momenta: [high, high] },
  ];
}

function between([from, to]: readonly [number, number], done: number, anneal: OneCycleConfig['anneal']): number {
  if (anneal === 'linear') return from + (to - from) * done;
  return to + ((from - to) * (1 + Math.cos(Math.PI * done))) / 2;
}
