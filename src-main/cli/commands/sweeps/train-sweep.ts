import type { Hub } from '../../../hub/hub.ts';
import { openSweep, readSweep, type SweepPlan } from '../../../campaigns/sweep-plan.ts';
import type { CampaignEnd } from '../../../campaigns/driver.ts';
import { SweepWork } from '../../../campaigns/sweep-work.ts';
import type { SweepSummary } from '../../../../core/protocol/pages/sweep-summary.ts';
import { type Sweep, sweepRunId } from '../../../../core/protocol/run/sweep/sweep.ts';
import { type ChangeOptions, parseCount } from '../../arguments.ts';
import { consentOf, ensureTrusted } from '../../consent.ts';
import { type EndingSignal, exitCodes, orUsageError, signalExitCodes, UsageError } from '../../errors.ts';
import { watchSignals } from '../../signals.ts';
import { SweepReport, type SweepReportOptions } from './sweep-report.ts';

export interface SweepOptions extends SweepReportOptions {
  parallel?: number | undefined;
  isCurrentSource?: boolean;
}

/** The options of `tutti resume` that concern a sweep, and those that do not. */
export interface ResumeSweepOptions extends SweepReportOptions, ChangeOptions {
  rank?: string;
  parallel?: string;
  currentSource?: boolean;
  trust?: boolean;
  detach?: boolean;
}

/** Trains what is left of a sweep, and prints means with standard errors. @returns the exit code */
export async function trainSweep(hub: Hub, plan: SweepPlan, options: SweepOptions): Promise<number> {
  const { parallel = 1, isCurrentSource = false } = options;
  const report = new SweepReport(process.stdout, plan.sweep, options);
  const work = new SweepWork({ hub, plan, parallel, isCurrentSource, listener: (update) => report.take(update) });
  const signals = watchSignals({ control: () => work.stop(), abort: () => work.abort() }, (line) => report.say(line));
  try {
    report.begin();
    const end = await work.run();
    const summary = await readSweep(hub, plan.sweep.id);
    report.end(end, summary);
    return codeOf(end, summary, signals.received);
  } finally {
    signals.release();
  }
}

/** `tutti resume <sweep>`. @throws UsageError for options that belong to one run */
export async function resumeSweep(
  hub: Hub,
  sweep: Sweep,
  folder: string,
  options: ResumeSweepOptions,
): Promise<number> {
  const { rank, set, maxEpochs, epochs, detach, parallel, trust = false, currentSource = false, json, quiet } = options;
  if (rank !== undefined || detach || set.length > 0 || maxEpochs !== undefined || epochs !== undefined) {
    throw new UsageError(
      `${sweep.id} is a sweep: its runs go on as they were begun, so --rank, --set, --max-epochs and --detach do ` +
        `not apply. Omit them, or resume one run: tutti resume ${sweepRunId(sweep, 0)}.`,
    );
  }
  await orUsageError(ensureTrusted(folder, consentOf(trust)));
  const plan = await orUsageError(openSweep(hub, sweep.id, currentSource));
  const places = parallel === undefined ? 1 : parseCount('--parallel', parallel);
  return trainSweep(hub, plan, { parallel: places, isCurrentSource: currentSource, json, quiet });
}

function codeOf(end: CampaignEnd, { runs }: SweepSummary, signal: EndingSignal | null): number {
  if (end === 'stopped') return signal === null ? exitCodes.stopped : signalExitCodes[signal];
  if (runs.some(({ status }) => status === 'failed')) return exitCodes.failed;
  return runs.every(({ status }) => status === 'finished') ? exitCodes.finished : exitCodes.stopped;
}
