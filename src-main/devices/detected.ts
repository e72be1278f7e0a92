import type { Device } from '../../protocol/devices.ts';

export type Detected = {
  devices: Device[];
  /** What could not be seen, and why: a sentence or two each, for the user. */
  notes: string[];
};
