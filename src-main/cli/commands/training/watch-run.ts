import { tutti } from '../../../../core/text/program.ts';
import { printable } from '../../../../core/text/printable.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import type { RunListener } from '../../../runs/recording/run-recorder.ts';
import type { RunSession } from '../../../runs/attempt/run-session.ts';
import { runPaths } from '../../../store/runs/run-folder.ts';
import { exitCodeOf, printError } from '../../errors.ts';
import { onLostOutput } from '../../outputs.ts';
import { JsonReport, type RunReport } from '../../report.ts';
import { watchSignals } from '../../signals.ts';
import { describeLimit, requeueJob, slurmJob, TimeLimitWatch } from '../../slurm-job.ts';
import { TerminalReport } from '../../terminal-report.ts';

export interface WatchOptions {
  json?: boolean | undefined;
  quiet?: boolean | undefined;
}

/** Runs a session to its end and reports its progress on stdout. @returns the exit code */
export async function watchRun(
  open: (listener: RunListener) => RunSession | Promise<RunSession>,
  { json = false, quiet = false }: WatchOptions,
): Promise<number> {
  const report: RunReport = json ? new JsonReport(process.stdout) : new TerminalReport(process.stdout, { quiet });
  const job = await slurmJob();
  let folder = '';
  const session = await open((update) => {
    if (update.type === 'record') ({ folder } = update);
    if (update.type === 'event' && update.event.kind === 'started' && job !== null)
      session.note('time-limit', describeLimit(job), { job: job.id, endsAt: job.endsAt?.toISOString() ?? null });
    report.take(update);
  });
  const signals = watchSignals(session, (line) => report.say(line));
  const limit =
    job === null
      ? null
      : new TimeLimitWatch(
          job,
          () => session.control({ action: 'stop' }),
          (line) => report.say(line),
        );
  const release = onLostOutput((reason) => session.note('output-lost', describeLoss(reason)));
  try {
    const record = await session.run();
    report.end(record, folder);
    if (record.status === 'failed') printError(explainFailure(record, folder));
    if (job !== null && limit?.isNear === true && record.status === 'stopped')
      await requeueJob(job, (line) => console.error(line));
    return exitCodeOf(record.status, signals.received);
  } finally {
    release();
    limit?.release();
    signals.release();
  }
}

/** Says it on stderr too, which may still have a reader. */
function describeLoss(reason: string): string {
  const message = `The output of the command was lost (${reason}). The run continues; follow it with \`${tutti} attach\`.`;
  console.error(message);
  return message;
}

/** Why a run failed, where, and where its logs are. */
export function explainFailure({ error }: RunRecord, folder: string): string {
  if (error === null) return 'The run failed without an error message.';
  const { rank, device, step, source = null, excerpt = null, message } = error;
  const place = Object.entries({ rank, device, step, at: source }).flatMap(([name, value]) =>
    value === null ? [] : `${name} ${value}`,
  );
  const where = place.length === 0 ? '' : ` (${place.join(', ')})`;
  const lines = excerpt === null ? '' : `\n${printable(excerpt)}`;
  return `The run failed${where}: ${message}${lines}\nLogs: ${runPaths(folder).logs}`;
}
