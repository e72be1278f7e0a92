import type { PlainObject } from '../../../core/options/index.ts';
import type { Hub } from '../../hub/hub.ts';
import type { RunSession } from '../../runs/attempt/run-session.ts';
import type { RunListener } from '../../runs/recording/run-recorder.ts';
import { projectFolderOf, UntrustedError } from '../../trust/project-trust.ts';
import { NothingLeftError } from '../../runs/attempt/resume-run.ts';
import { lostRanksOf } from '../../../core/protocol/run/lost-members.ts';
import { type ChangeOptions, parseOverrides, parseRank } from '../arguments.ts';
import { type Consent, consentOf, ensureTrusted } from '../consent.ts';
import { findSubject } from '../../campaigns/sweep-plan.ts';
import { orUsageError, exitCodes, UsageError } from '../errors.ts';
import { jsonLines } from '../report.ts';
import { inLaunch, isFirstTask, refuseInLaunch, serveTask } from '../launched.ts';
import { resumeSweep } from './sweeps/train-sweep.ts';
import { parseNodes } from './training/train-in-job.ts';
import { trainDetached } from './training/train-detached.ts';
import { watchRun, type WatchOptions } from './training/watch-run.ts';

export interface ResumeOptions extends WatchOptions, ChangeOptions {
  rank?: string;
  /** Train with the project's present code, although it has changed. */
  currentSource?: boolean;
  trust?: boolean;
  /** Continue without this terminal. */
  detach?: boolean;
  /** How many runs of a sweep train at a time. */
  parallel?: string;
  /** The least and the most nodes with which a launch on several nodes trains. */
  nodes?: string;
}

/** `tutti resume <run>`, or `tutti resume <sweep>`. @returns the exit code; `finished` if nothing is left to do */
export function resume(run: string, options: ResumeOptions): Promise<number> {
  if (!isFirstTask()) return serveTask();
  const nodes = options.nodes === undefined ? null : parseNodes(options.nodes);
  const override = parseOverrides(options);
  const rank = options.rank === undefined ? undefined : parseRank(options.rank);
  const { currentSource = false } = options;
  const request: ResumeRequest = { run, override, rank, currentSource, consent: consentOf(options.trust ?? false) };
  return inLaunch(async (hub) => {
    const subject = await orUsageError(findSubject(hub, run));
    if (subject.kind === 'sweep') return resumeSweep(hub, subject.sweep, subject.rows[0].projectFolder, options);
    if (options.parallel !== undefined)
      throw new UsageError(`--parallel belongs to a sweep, and ${subject.row.id} is one run. Omit it.`);
    if (options.detach) refuseInLaunch(hub, '--detach');
    if (options.detach) return resumeDetached(hub, request, options);
    try {
      const code = await watchRun((listener) => orUsageError(openSession(hub, request, listener)), options);
      // A run keeps its status when a member is completed, and that may be `stopped`.
      return rank === undefined || lostRanksOf(await hub.record(run)).includes(rank) ? code : exitCodes.finished;
    } catch (error) {
      if (!(error instanceof Error && error.cause instanceof NothingLeftError)) throw error;
      if (options.json) process.stdout.write(jsonLines({ type: 'ended', record: await hub.record(run) }));
      else process.stdout.write(`${error.message}\n`);
      return exitCodes.finished;
    }
  }, nodes);
}

interface ResumeRequest {
  run: string;
  override: PlainObject;
  rank: number | undefined;
  currentSource: boolean;
  consent: Consent;
}

async function openSession(hub: Hub, request: ResumeRequest, listener: RunListener): Promise<RunSession> {
  const { run, override, rank, currentSource, consent } = request;
  try {
    return await hub.resume(run, override, listener, { rank, currentSource });
  } catch (error) {
    if (!(error instanceof UntrustedError)) throw error;
    const { project } = await hub.record(run);
    await ensureTrusted(project.folder, consent);
    return hub.resume(run, override, listener, { rank, currentSource });
  }
}

async function resumeDetached(hub: Hub, request: ResumeRequest, options: WatchOptions): Promise<number> {
  const { run, override, rank, currentSource, consent } = request;
  const { folder, id } = await orUsageError(hub.find(run));
  // The detached process cannot ask.
  await orUsageError(hub.record(folder).then((record) => ensureTrusted(projectFolderOf(record), consent)));
  return trainDetached({ kind: 'resume', folder, override, rank, currentSource }, id, options);
}
