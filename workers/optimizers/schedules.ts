import type { ScheduleConfig } from '../../core/protocol/run/config.ts';
import { oneCycleAt } from './one-cycle.ts';
import type { UpdateSettings } from './optimizers.ts';

/** Where training stands, as a schedule needs it. */
export interface SchedulePosition {
  epoch: number;
  step: number;
  totalSteps: number;
}

/**
 * What the update of a step is made with: its learning rate and, under `one-cycle`, its momentum.
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
