import type { Device } from '../../../../core/protocol/machine/devices.ts';
import type { OptionDescription } from '../../../../core/options/index.ts';
import { isGpu } from './device-selection.ts';

/** What decides which options and choices make sense at the moment. */
export interface FormContext {
  /** The value of an option by its path. */
  value: (path: string) => unknown;
  devices: readonly Device[];
  /** Devices that the plan uses; 0 while there is none. */
  plannedDevices: number;
}

/** Why an option has no effect as things are; null where it has. */
export function whyIdle({ path }: OptionDescription, { value, plannedDevices }: FormContext): string | null {
  if (
    path.startsWith('earlyStopping.') &&
    path !== 'earlyStopping.enabled' &&
    value('earlyStopping.enabled') === false
  ) {
    return 'Early stopping is off.';
  }
  if (path === 'placement' && plannedDevices > 0 && workerCount(value) <= plannedDevices) {
    return 'Every worker has a device of its own: there is nothing to share.';
  }
  if (path === 'identicalSeeds' && Number(value('members')) === 1) return 'There is only one member.';
  return null;
}

/** Why a choice cannot be taken as things are; null where it can. */
export function whyUnavailable(path: string, choice: string, { value, plannedDevices }: FormContext): string | null {
  const isJoint = value('earlyStopping.enabled') === true && value('earlyStopping.joint') === true;
  if (path === 'placement' && choice === 'waves' && isJoint && workerCount(value) > plannedDevices) {
    return 'Joint early stopping needs all members to train at the same time. Turn it off first.';
  }
  return null;
}

/** Workers that the members need, each of which may train several. */
function workerCount(value: FormContext['value']): number {
  return Math.ceil(Number(value('members')) / Number(value('membersPerDevice') ?? 1));
}

/** Why a way of choosing devices finds none; null where it finds some. */
export function whyNoDevices(selection: string, devices: readonly Device[]): string | null {
  if (selection === 'gpu' && !devices.some(isGpu)) return 'No GPU was found. Settings and health says what is missing.';
  return null;
}
