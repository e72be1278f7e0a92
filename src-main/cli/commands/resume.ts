import { NothingLeftError } from '../../runs/attempt/resume-run.ts';
import { parseAssignments } from '../arguments.ts';
import { runFlagsOf } from '../../runs/configuration/run-flags.ts';
import { orUsageError, exitCodes } from '../errors.ts';
import { jsonLines } from '../report.ts';
import { withHub } from '../open-hub.ts';
import { watchRun, type WatchOptions } from './watch-run.ts';

export interface ResumeOptions extends WatchOptions {
  set: string[];
}

/** `tutti resume <run>`. @returns the exit code; `finished` if nothing is left to do */
export function resume(run: string, { set, ...options }: ResumeOptions): Promise<number> {
  const override = parseAssignments(set, runFlagsOf(null));
  return withHub(async (hub) => {
    try {
      return await watchRun((listener) => orUsageError(hub.resume(run, override, listener)), options);
    } catch (error) {
      if (!(error instanceof Error && error.cause instanceof NothingLeftError)) throw error;
      if (options.json) process.stdout.write(jsonLines({ type: 'ended', record: await hub.record(run) }));
      else process.stdout.write(`${error.message}\n`);
      return exitCodes.finished;
    }
  });
}
