import type { Device } from '../../core/protocol/machine/devices.ts';

export type Detected = {
  devices: Device[];
  /** What could not be seen, and why: a sentence or two each, for the user. */
  notes: string[];
};
