import type { Device } from '../../../core/protocol/machine/devices.ts';

/** A core whose load nobody has measured. */
export const coreDevice: Device = {
  id: 'cpu:0',
  kind: 'cpu',
  index: 0,
  name: 'core',
  memoryTotalBytes: null,
  memoryUsedBytes: null,
  load: null,
  processCount: null,
};
