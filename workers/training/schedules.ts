import type { ScheduleConfig } from '../../protocol/run-config.ts';

/** Where training stands, as a schedule needs it. */
export interface SchedulePosition {
  epoch: number;
  step: number;
  totalSteps: number;
}

/**
 * Learning rate of a step.
 *
 * - `constant`: base
 * - `cosine`: base · (step + 1) / warmup during the warm-up, then floor + (base − floor) · (1 + cos(π t)) / 2, where t goes from
 *   0 to 1 over the steps that are left (Loshchilov and Hutter, 2017, "SGDR", eq. 5, without restarts)
 * - `step`: base · factor^⌊epoch / everyEpochs⌋
 */
export function learningRateAt(schedule: ScheduleConfig, base: number, position: SchedulePosition): number {
  switch (schedule.kind) {
    case 'constant':
      return base;
    case 'cosine': {
      const { warmupSteps, floorFraction } = schedule;
      if (position.step < warmupSteps) return (base * (position.step + 1)) / warmupSteps;
      const span = Math.max(1, position.totalSteps - warmupSteps);
      const done = Math.min(1, (position.step - warmupSteps) / span);
      const floor = base * floorFraction;
      return floor + ((base - floor) * (1 + Math.cos(Math.PI * done))) / 2;
    }
    case 'step':
      return base * schedule.factor ** Math.floor(position.epoch / schedule.everyEpochs);
  }
}
