import type { RunSession } from '../../runs/attempt/run-session.ts';
import type { RunListener } from '../../runs/recording/run-recorder.ts';
import { UntrustedError } from '../../trust/project-trust.ts';
import { NothingLeftError } from '../../runs/attempt/resume-run.ts';
import { lostRanksOf } from '../../../core/protocol/run/lost-members.ts';
import { parseAssignments, parseRank } from '../arguments.ts';
import { runFlagsOf } from '../../runs/configuration/run-flags.ts';
import { consentOf, ensureTrusted } from '../consent.ts';
import { orUsageError, exitCodes } from '../errors.ts';
import { jsonLines } from '../report.ts';
import { withHub } from '../open-hub.ts';
import { watchRun, type WatchOptions } from './watch-run.ts';

export interface ResumeOptions extends WatchOptions {
  set: string[];
  rank?: string;
  trust?: boolean;
}

/** `tutti resume <run>`. @returns the exit code; `finished` if nothing is left to do */
export function resume(
  run: string,
  { set, rank: rankText, trust = false, ...options }: ResumeOptions,
): Promise<number> {
  const override = parseAssignments(set, runFlagsOf(null));
  const rank = rankText === undefined ? undefined : parseRank(rankText);
  return withHub(async (hub) => {
    const open = async (listener: RunListener): Promise<RunSession> => {
      try {
        return await hub.resume(run, override, listener, { rank });
      } catch (error) {
        if (!(error instanceof UntrustedError)) throw error;
        const { project } = await hub.record(run);
        await ensureTrusted(project.folder, consentOf(trust));
        return hub.resume(run, override, listener, { rank });
      }
    };
    try {
      const code = await watchRun((listener) => orUsageError(open(listener)), options);
      // A run keeps its status when a member is completed, and that may be `stopped`.
      return rank === undefined || lostRanksOf(await hub.record(run)).includes(rank) ? code : exitCodes.finished;
    } catch (error) {
      if (!(error instanceof Error && error.cause instanceof NothingLeftError)) throw error;
      if (options.json) process.stdout.write(jsonLines({ type: 'ended', record: await hub.record(run) }));
      else process.stdout.write(`${error.message}\n`);
      return exitCodes.finished;
    }
  });
}
