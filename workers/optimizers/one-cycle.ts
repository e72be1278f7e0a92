import type { ScheduleConfig } from '../../core/protocol/run/config.ts';
import type { SchedulePosition } from './schedules.ts';

type OneCycleConfig = Extract<ScheduleConfig, { kind: 'one-cycle' }>;

/** One leg of the cycle, from the step where the last one ended. Rates are fractions of the base rate. */
interface Phase {
  endStep: number;
  rates: readonly [from: number, to: number];
  momenta: readonly [from: number, to: number];
}

/**
 * The one-cycle schedule (Smith and Topin, 2018, "Super-convergence"), step by step as PyTorch's `OneCycleLR` has it. With S steps,
 * f `risingFraction`, d `startDivisor` and e `finalDivisor`, in fractions of the base rate:
 *
 * - 1/d → 1 until step f·S − 1, then 1 → 1/(d·e) until step S − 1; or, in three phases,
 * - 1/d → 1 until f·S − 1, 1 → 1/d until 2f·S − 2, 1/d → 1/(d·e) until S − 1.
 *
 * Momentum falls from `highMomentum` to `lowMomentum` while the rate rises, and rises while it falls. Between its ends a leg is
 * half a cosine, or a line.
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
