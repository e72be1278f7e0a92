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

/** The course of one kind of schedule. */
interface Course<Config> {
  /** The settings of a step's update. */
  settingsAt(schedule: Config, base: number, position: SchedulePosition): UpdateSettings;
  /** Whether it depends on the number of steps that are planned. */
  isSpread: boolean;
}

/**
 * The courses, by kind; the options of each are in `core/protocol/run/schedule-config.ts`. Of S steps, W are the
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
 */
const courses: { readonly [Kind in ScheduleConfig['kind']]: Course<Extract<ScheduleConfig, { kind: Kind }>> } = {
  constant: afterWarmup((_, base) => base),
  cosine: afterWarmup((schedule, base, position) => halfCosine(base, schedule, shareDone(schedule, position)), {
    isSpread: true,
  }),
  'cosine-restarts': afterWarmup((schedule, base, position) =>
    halfCosine(base, schedule, shareOfCycle(schedule, position)),
  ),
  polynomial: afterWarmup(polynomialRate, { isSpread: true }),
  step: afterWarmup((schedule, base, { epoch }) => base * schedule.factor ** Math.floor(epoch / schedule.everyEpochs)),
  plateau: afterWarmup((_, base, { reduction = 1 }) => base * reduction),
  'one-cycle': {
    settingsAt(schedule, base, position) {
      const { rateFraction, momentum } = oneCycleAt(schedule, position);
      const learningRate = base * rateFraction;
      return schedule.cycleMomentum ? { learningRate, momentum } : { learningRate };
    },
    isSpread: true,
  },
};

/** The settings of a step's update: its learning rate and, under `one-cycle`, its momentum. */
export function settingsAt(schedule: ScheduleConfig, base: number, position: SchedulePosition): UpdateSettings {
  return courseOf(schedule).settingsAt(schedule, base, position);
}

/** Whether a schedule's course depends on the number of steps that are planned. */
export function isSpread(schedule: ScheduleConfig): boolean {
  return courseOf(schedule).isSpread;
}

function courseOf({ kind }: ScheduleConfig): Course<ScheduleConfig> {
  return courses[kind];
}

interface Warmed {
  warmupSteps: number;
}

/**
 * A course that begins with the warm-up: step s of it has (s + 1)/W of the rate that the first step after it has
 * (`step` and `plateau`: of the present one).
 * @param rate after the warm-up
 */
function afterWarmup<Config extends Warmed>(
  rate: (schedule: Config, base: number, position: SchedulePosition) => number,
  { isSpread: isOwn = false } = {},
): Course<Config> {
  return {
    settingsAt(schedule, base, position) {
      const { warmupSteps } = schedule;
      if (position.step >= warmupSteps) return { learningRate: rate(schedule, base, position) };
      const first = rate(schedule, base, { ...position, step: warmupSteps });
      return { learningRate: (first * (position.step + 1)) / warmupSteps };
    },
    isSpread: isOwn,
  };
}

/** t */
function shareDone({ warmupSteps }: Warmed, { step, totalSteps }: SchedulePosition): number {
  const span = Math.max(1, totalSteps - warmupSteps);
  return Math.min(1, (step - warmupSteps) / span);
}

/** The share of its cycle at a step. */
function shareOfCycle(
  { cycleSteps, cycleFactor, warmupSteps }: Extract<ScheduleConfig, { kind: 'cosine-restarts' }>,
  position: SchedulePosition,
): number {
  const step = position.step - warmupSteps;
  let [length, start] = [cycleSteps, 0];
  if (cycleFactor === 1) start = Math.floor(step / length) * length;
  while (step >= start + length) {
    start += length;
    length *= cycleFactor;
  }
  return (step - start) / length;
}

interface Floored {
  floorFraction: number;
}

function halfCosine(base: number, schedule: Floored, done: number): number {
  const floor = base * schedule.floorFraction;
  return floor + ((base - floor) * (1 + Math.cos(Math.PI * done))) / 2;
}

function polynomialRate(
  schedule: Extract<ScheduleConfig, { kind: 'polynomial' }>,
  base: number,
  position: SchedulePosition,
): number {
  const floor = base * schedule.floorFraction;
  return floor + (base - floor) * (1 - shareDone(schedule, position)) ** schedule.power;
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
