import { tutti } from '../../../../core/text/program.ts';
import { toJson } from '../../../../core/protocol/wire/numbers.ts';
import { type DetachedJob, hubLogPath, startDetached } from '../../../hub/detach.ts';
import type { WatchOptions } from './watch-run.ts';
import { exitCodeOf, exitCodes } from '../../errors.ts';

/**
 * Starts a run that outlives this command, and says how to follow it. Ctrl-C aborts it as long as its ranks are not
 * ready.
 * @returns the exit code, once the ranks are ready
 */
export async function trainDetached(job: DetachedJob, id: string, { json = false }: WatchOptions): Promise<number> {
  const aborting = new AbortController();
  const abort = (): void => aborting.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, abort);
  try {
    const started = await startDetached(job, aborting.signal);
    const { folder } = job;
    if (json) process.stdout.write(`${toJson({ ...started, id, folder })}\n`);
    else process.stdout.write(`${describe(started.type === 'ready', id, folder)}\n`);
    if (started.type === 'ready') return exitCodes.finished;
    if (started.error !== null) console.error(`error: The run failed: ${started.error}`);
    return exitCodeOf(started.status, aborting.signal.aborted ? 'SIGINT' : null);
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, abort);
  }
}

function describe(isReady: boolean, id: string, folder: string): string {
  if (!isReady) return `The run ${id} has ended already. Its output: ${hubLogPath(folder)}`;
  return [
    `The run ${id} trains without this terminal.`,
    `  to follow it:  ${tutti} attach ${id}`,
    `  to stop it:    ${tutti} stop ${id}`,
    `  folder: ${folder}`,
  ].join('\n');
}
