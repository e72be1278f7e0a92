import type { RunStatus } from '../../../core/protocol/run/record.ts';
import type { Style } from './look.ts';

/** The colour of a run's status. */
export const statusStyles: Readonly<Record<RunStatus, Style>> = {
  created: 'cyan',
  running: 'cyan',
  finished: 'green',
  stopped: 'yellow',
  interrupted: 'yellow',
  failed: 'red',
};
