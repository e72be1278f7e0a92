import type { RunSession } from '../runs/attempt/run-session.ts';
import { KeyPress } from '../processes/terminal.ts';
import { onLauncherLost } from '../processes/launcher-guard.ts';
import { type EndingSignal, exitCodes } from './errors.ts';

/** Signals whose sender does not wait. */
const aborting = ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Handles signals for a run until it is released. */
export interface SignalWatch {
  /** The last signal received. */
  received: EndingSignal | null;
  release(): void;
}

/**
 * Ctrl-C stops a run jointly, with a last evaluation and all checkpoints; a second one aborts it. SIGTERM, SIGHUP and
 * SIGQUIT abort it immediately, because their sender does not wait. If npm or the launcher that started this command is
 * gone, the run stops jointly.
 */
export function watchSignals(session: Pick<RunSession, 'control' | 'abort'>, say: (line: string) => void): SignalWatch {
  const abort = (signal: EndingSignal): void => {
    watch.received = signal;
    session.abort();
  };
  const press = new KeyPress();
  const interrupt = (): void => {
    if (!press.isNew()) return;
    if (watch.received !== null) return abort('SIGINT');
    watch.received = 'SIGINT';
    say('Stopping jointly at the next step; press Ctrl-C again to abort.');
    session.control({ action: 'stop' });
  };
  const loseLauncher = (): void => {
    if (watch.received !== null) return;
    watch.received = 'SIGHUP';
    say('npm, or the launcher of this command, has ended: stopping jointly at the next step.');
    session.control({ action: 'stop' });
  };
  const aborts = aborting.map((signal) => ({ signal, listener: () => abort(signal) }));
  for (const { signal, listener } of aborts) process.on(signal, listener);
  process.on('SIGINT', interrupt);
  const unfollow = onLauncherLost(loseLauncher);
  const release = (): void => {
    for (const { signal, listener } of aborts) process.off(signal, listener);
    process.off('SIGINT', interrupt);
    unfollow();
  };
  const watch: SignalWatch = { received: null, release };
  return watch;
}

/** Work that Ctrl-C ends before it writes anything. A second Ctrl-C ends the process. @returns the exit code */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<number> {
  const stopping = new AbortController();
  const interrupt = (): void => stopping.abort();
  process.once('SIGINT', interrupt);
  try {
    await work(stopping.signal);
    return exitCodes.finished;
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    console.error('Stopped. Nothing was written.');
    return exitCodes.interrupted;
  } finally {
    process.off('SIGINT', interrupt);
  }
}
