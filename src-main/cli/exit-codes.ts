import type { RunStatus } from '../../core/protocol/run/record.ts';

/** What the terminal command's exit code says; `tutti --help` lists them. */
export const exitCodes = {
  /** Also after early stopping. */
  finished: 0,
  /** The run failed, or the command did. */
  failed: 1,
  /** Wrong arguments or a wrong configuration: nothing was begun. */
  usage: 2,
  /** The run was ended before its time, by none of the signals below: whoever read its output has gone, for instance. */
  stopped: 3,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** Signals that end a run, with what the command then exits with: 128 and the signal's number. */
export const signalExitCodes = {
  SIGHUP: exitCodes.hungUp,
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
} as const;
export type EndingSignal = keyof typeof signalExitCodes;

/** What a command that ran a run exits with. A run that was over when the signal came has finished all the same. */
export function exitCodeOf(status: RunStatus, signal: EndingSignal | null): number {
  if (status === 'finished') return exitCodes.finished;
  if (status === 'failed') return exitCodes.failed;
  return signal === null ? exitCodes.stopped : signalExitCodes[signal];
}
