import type { RunSession } from '../runs/attempt/run-session.ts';
import type { EndingSignal } from './errors.ts';

/** Handles signals for a run until it is released. */
export interface SignalWatch {
  /** The last signal received. */
  received: EndingSignal | null;
  release(): void;
}

/**
 * Ctrl-C stops a run jointly, with a last evaluation and all checkpoints; a second one aborts it. SIGTERM and SIGHUP abort
 * it immediately, because their sender does not wait.
 */
export function watchSignals(session: Pick<RunSession, 'control' | 'abort'>, say: (line: string) => void): SignalWatch {
  const abort = (signal: EndingSignal): void => {
    watch.received = signal;
    session.abort();
  };
  const interrupt = (): void => {
    if (watch.received !== null) return abort('SIGINT');
    watch.received = 'SIGINT';
    say('Stopping jointly at the next step; press Ctrl-C again to abort.');
    session.control({ action: 'stop' });
  };
  const terminate = (): void => abort('SIGTERM');
  const hangUp = (): void => abort('SIGHUP');
  process.on('SIGINT', interrupt).on('SIGTERM', terminate).on('SIGHUP', hangUp);
  const release = (): void => {
    process.off('SIGINT', interrupt).off('SIGTERM', terminate).off('SIGHUP', hangUp);
  };
  const watch: SignalWatch = { received: null, release };
  return watch;
}
