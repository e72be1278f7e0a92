import type { Device } from '../../../../core/protocol/machine/devices.ts';
import type { OptionDescription } from '../../../../core/options/index.ts';
import { isGpu } from './device-plan.ts';

/** The state that decides which options and choices are available. */
export interface FormContext {
  /** The value of an option by its path. */
  value: (path: string) => unknown;
  devices: readonly Device[];
  /** How many devices the plan uses; 0 before there is a plan. */
  plannedDevices: number;
}

/** Why an option has no effect with the current values; null where it has. */
export function whyIdle({ path }: OptionDescription, { value, plannedDevices }: FormContext): string | null {
  if (
    path.startsWith('earlyStopping.') &&
    path !== 'earlyStopping.enabled' &&
    value('earlyStopping.enabled') === false
  ) {
    return 'Early stopping is off.';
  }
  if (path === 'placement' && plannedDevices > 0 && workerCount(value) <= plannedDevices) {
    return 'Every worker has its own device, so nothing is shared.';
  }
  if (path === 'identicalSeeds' && Number(value('members')) === 1) return 'There is only one member.';
  return null;
}

/** Why a choice is not available with the current values; null where it is. */
export function whyUnavailable(path: string, choice: string, { value, plannedDevices }: FormContext): string | null {
  const isJoint = value('earlyStopping.enabled') === true && value('earlyStopping.joint') === true;
  if (path === 'placement' && choice === 'waves' && isJoint && workerCount(value) > plannedDevices) {
    return 'Joint early stopping needs all members to train at the same time. Turn it off first.';
  }
  return null;
}

/** How many workers the members need. A worker may train several. */
function workerCount(value: FormContext['value']): number {
  return Math.ceil(Number(value('members')) / Number(value('membersPerDevice') ?? 1));
}

/** Why a device selection matches no device; null where it matches some. */
export function whyNoDevices(selection: string, devices: readonly Device[]): string | null {
  if (selection === 'gpu' && !devices.some(isGpu)) return 'No GPU was found. The Health page shows what is missing.';
  return null;
}
