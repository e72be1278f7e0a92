import type { ScheduleConfig } from '../../core/protocol/run/config.ts';
import type { UpdateSettings } from './optimizers.ts';

type OneCycleConfig = Extract<ScheduleConfig, { kind: 'one-cycle' }>;

/** The position in training that a schedule depends on. */
export interface SchedulePosition {
  epoch: number;
  step: number;
  totalSteps: number;
  /** What `plateau` has left of the base rate; absent: all. */
  reduction?: number;
}

/**
 * The settings of a step's update: its learning rate and, under `one-cycle`, its momentum. Of S steps, W are the
 * warm-up; t goes from 0 to 1 over the others. `floor` is a fraction of the base rate.
 *
 * - `constant`: base
 * - `cosine`: floor + (base − floor) · (1 + cos(π t)) / 2 (Loshchilov and Hutter, 2017, "SGDR", eq. 5, without
 *   restarts)
 * - `cosine-restarts`: the same with t from 0 to 1 in each cycle, of `cycleSteps` · `cycleFactor`ⁱ steps
 * - `polynomial`: floor + (base − floor) · (1 − t)^power
 * - `step`: base · factor^⌊epoch / everyEpochs⌋
 * - `plateau`: base · `reduction`
 * - `one-cycle`: see {@link oneCycleAt}
 *
 * Step s of the warm-up has (s + 1)/W of the rate that the first step after it has (`step` and `plateau`: of the
 * present one).
 */
export function settingsAt(schedule: ScheduleConfig, base: number, position: SchedulePosition): UpdateSettings {
  if (schedule.kind === 'one-cycle') {
    const { rateFraction, momentum } = oneCycleAt(schedule, position);
    const learningRate = base * rateFraction;
    return schedule.cycleMomentum ? { learningRate, momentum } : { learningRate };
  }
  const { warmupSteps } = schedule;
  if (position.step >= warmupSteps) return { learningRate: rateAfterWarmup(schedule, base, position) };
  const first = rateAfterWarmup(schedule, base, { ...position, step: warmupSteps });
  return { learningRate: (first * (position.step + 1)) / warmupSteps };
}

/** Whether a schedule's course depends on the number of steps that are planned. */
export function isSpread({ kind }: ScheduleConfig): boolean {
  return kind === 'cosine' || kind === 'polynomial' || kind === 'one-cycle';
}

type Warmed = Exclude<ScheduleConfig, { kind: 'one-cycle' }>;

function rateAfterWarmup(schedule: Warmed, base: number, position: SchedulePosition): number {
  const step = position.step - schedule.warmupSteps;
  switch (schedule.kind) {
    case 'constant':
      return base;
    case 'step':
      return base * schedule.factor ** Math.floor(position.epoch / schedule.everyEpochs);
    case 'plateau':
      return base * (position.reduction ?? 1);
    case 'cosine':
      return halfCosine(base, schedule.floorFraction, shareDone(schedule, position));
    case 'cosine-restarts':
      return halfCosine(base, schedule.floorFraction, shareOfCycle(schedule, step));
    case 'polynomial': {
      const floor = base * schedule.floorFraction;
      return floor + (base - floor) * (1 - shareDone(schedule, position)) ** schedule.power;
    }
  }
}

/** t */
function shareDone({ warmupSteps }: Warmed, { step, totalSteps }: SchedulePosition): number {
  const span = Math.max(1, totalSteps - warmupSteps);
  return Math.min(1, (step - warmupSteps) / span);
}

/** The share of its cycle at a step. */
function shareOfCycle(
  { cycleSteps, cycleFactor }: Extract<ScheduleConfig, { kind: 'cosine-restarts' }>,
  step: number,
): number {
  let [length, start] = [cycleSteps, 0];
  if (cycleFactor === 1) start = Math.floor(step / length) * length;
  while (step >= start + length) {
    start += length;
    length *= cycleFactor;
  }
  return (step - start) / length;
}

function halfCosine(base: number, floorFraction: number, done: number): number {
  const floor = base * floorFraction;
  return floor + ((base - floor) * (1 + Math.cos(Math.PI * done))) / 2;
}

/** One phase of the cycle, from the end of the one before. Rates are fractions of the base rate. */
interface Phase {
  endStep: number;
  rates: readonly [from: number, to: number];
  momenta: readonly [from: number, to: number];
}

/**
 * The one-cycle schedule (Smith and Topin, 2018, "Super-convergence"), step by step like PyTorch's `OneCycleLR`. With S
 * steps, f `risingFraction`, d `startDivisor` and e `finalDivisor`, in fractions of the base rate:
 *
 * - 1/d → 1 until step f·S − 1, then 1 → 1/(d·e) until step S − 1; or, in three phases,
 * - 1/d → 1 until f·S − 1, 1 → 1/d until 2f·S − 2, 1/d → 1/(d·e) until S − 1.
 *
 * Momentum falls from `highMomentum` to `lowMomentum` while the rate rises, and rises while it falls. Within a phase
 * both follow half a cosine, or a line.
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
