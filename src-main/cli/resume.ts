import { parseAssignments, settingsOf } from './arguments.ts';
import { orUsageError } from './errors.ts';
import { withHub } from './open-hub.ts';
import { watchRun, type WatchOptions } from './watch-run.ts';

export interface ResumeOptions extends WatchOptions {
  set: string[];
}

/** `tutti resume <run>`. @returns the exit code */
export function resume(run: string, { set, ...options }: ResumeOptions): Promise<number> {
  const override = parseAssignments(set, settingsOf(null));
  return withHub((hub) => watchRun((listener) => orUsageError(hub.resume(run, override, listener)), options));
}
