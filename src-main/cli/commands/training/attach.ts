import { setTimeout as wait } from 'node:timers/promises';
import type { ControlRequest } from '../../../../core/protocol/run/control-state.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import { factsOf, type RunUpdate } from '../../../../core/protocol/pages/run-updates.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { FollowedRun } from '../../../hub/followed-run.ts';
import type { Hub } from '../../../hub/hub.ts';
import { RemoteRun } from '../../../attach/remote-run.ts';
import { findTarget } from '../../../attach/find-run.ts';
import { KeyPress } from '../../../processes/terminal.ts';
import { isOpen, markInterrupted } from '../../../store/index/recovery.ts';
import { exitCodeOf, exitCodes, orUsageError, printError } from '../../errors.ts';
import { withHub } from '../../open-hub.ts';
import { onLostOutput } from '../../outputs.ts';
import { JsonReport, type RunReport } from '../../report.ts';
import { TerminalReport } from '../../terminal-report.ts';
import { explainFailure, type WatchOptions } from './watch-run.ts';
import { PointBuffer } from '../../../../core/protocol/wire/points.ts';

const lookEveryMs = 200;

export interface AttachOptions extends WatchOptions {
  /** Tutti's home on the other machine. */
  home?: string | undefined;
}

/**
 * `tutti attach <run>`: shows the progress of a run of any process, as `train` does, and with `user@login:run` of one
 * on another machine. Ctrl-C stops the run jointly, and aborts it when it is pressed again; Ctrl-D or q leaves it.
 * @returns the exit code that `train` gives, or `finished` after leaving
 */
export function attach(run: string, { json = false, quiet = false, home }: AttachOptions): Promise<number> {
  return withHub(async (hub) => {
    const report: RunReport = json ? new JsonReport(process.stdout) : new TerminalReport(process.stdout, { quiet });
    const target = await orUsageError(findTarget(hub.index, run, home ?? null));
    if (target === null) return watch(hub, run, report, null);
    const say = (line: string): void => report.say(line);
    const remote = await RemoteRun.open(target, { home: target.home, index: hub.index, mayAsk: true, say });
    if (typeof remote === 'string') return watch(hub, remote, report, null);
    try {
      return await watch(hub, remote.folder, report, remote);
    } finally {
      await remote.close();
    }
  });
}

/** Shows a run until it has ended, or the user leaves it. */
async function watch(hub: Hub, run: string, report: RunReport, remote: RemoteRun | null): Promise<number> {
  const { folder, id } = await orUsageError(hub.find(run));
  const visit = new Visit(hub, id, report);
  try {
    const record = await visit.follow(folder, remote?.kept ?? null);
    if (record === null) {
      report.say(`\nDetached. The run ${id} continues; \`tutti attach ${id}\` follows it again.`);
      return exitCodes.finished;
    }
    report.end(record, folder);
    if (record.status === 'failed') printError(explainFailure(record, folder));
    return exitCodeOf(record.status, visit.hasAsked ? 'SIGINT' : null);
  } finally {
    visit.end();
  }
}

/** Shows a run and passes on the user's requests to it. */
class Visit {
  /** Whether the user has asked the run to stop. */
  hasAsked = false;
  readonly #hub: Hub;
  readonly #id: string;
  readonly #report: RunReport;
  readonly #press = new KeyPress();
  readonly #leaving = new AbortController();
  /** Why the copy of a run elsewhere cannot be kept. */
  #failure: unknown = null;
  readonly #release: (() => void)[];

  constructor(hub: Hub, id: string, report: RunReport) {
    this.#hub = hub;
    this.#id = id;
    this.#report = report;
    const interrupt = (): void => this.#interrupt();
    const leave = (): void => this.#leaving.abort();
    process.on('SIGINT', interrupt);
    // Nobody sees the run any more. Unlike that of `train`, it needs nobody.
    this.#release = [
      () => process.off('SIGINT', interrupt),
      onLostOutput(leave),
      readKeys({ interrupt, leave, isLeave: (key) => key === 'q' || key === '\u0004' }),
    ];
  }

  /**
   * @param kept rejects if the copy of a run elsewhere can no longer be kept
   * @returns the final record; null if the user has left before the end
   */
  async follow(folder: string, kept: Promise<void> | null): Promise<RunRecord | null> {
    kept?.catch((error: unknown) => {
      this.#failure = error;
      this.#leaving.abort();
    });
    await markInterrupted(folder);
    const run = await FollowedRun.open(folder);
    for (const update of pastUpdates(run)) this.#report.take(update);
    while (isOpen(run.record)) {
      if (this.#failure !== null) throw this.#failure;
      if (this.#leaving.signal.aborted) return null;
      // The wait rejects when the user leaves, which the loop checks.
      await wait(lookEveryMs, undefined, { signal: this.#leaving.signal }).catch(() => undefined);
      await markInterrupted(folder);
      for (const update of await run.refresh()) this.#show(update);
    }
    return run.record;
  }

  end(): void {
    for (const release of this.#release) release();
  }

  #show(update: RunUpdate): void {
    this.#report.take(update);
    const about = update.type === 'event' ? factsOf([update.event]) : null;
    if (about !== null) this.#report.take({ type: 'described', about });
  }

  #interrupt(): void {
    if (!this.#press.isNew()) return;
    const request: ControlRequest = this.hasAsked ? { action: 'abort' } : { action: 'stop' };
    this.#report.say(
      this.hasAsked ? 'Aborting the run.' : 'Stopping jointly at the next step; press Ctrl-C again to abort.',
    );
    this.hasAsked = true;
    this.#hub
      .control(this.#id, request)
      .catch((error: unknown) => this.#report.say(`The run could not be reached: ${messageOf(error)}`));
  }
}

interface KeyHandlers {
  /** Ctrl-C. */
  interrupt(): void;
  leave(): void;
  isLeave(key: string): boolean;
}

/**
 * Reads single keys from the terminal, without echo; does nothing where stdin is none. Ctrl-Z suspends the process as
 * usual.
 * @returns a function that ends it
 */
function readKeys(handlers: KeyHandlers): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const take = (text: string): void => {
    for (const key of text) {
      if (key === '\u0003') handlers.interrupt();
      else if (key === '\u001A') suspend();
      else if (handlers.isLeave(key)) handlers.leave();
    }
  };
  const resume = (): void => void stdin.setRawMode(true);
  const suspend = (): void => {
    stdin.setRawMode(false);
    process.kill(process.pid, 'SIGTSTP');
  };
  stdin.setRawMode(true).setEncoding('utf8').on('data', take);
  process.on('SIGCONT', resume);
  return () => {
    process.off('SIGCONT', resume);
    stdin.off('data', take).setRawMode(false).pause();
  };
}

/**
 * What a report needs to know of a run's past: its record, the facts, every evaluation of the ensemble, and the latest
 * loss of each member, which tells its step.
 */
function pastUpdates(run: FollowedRun): RunUpdate[] {
  const about = factsOf(run.events);
  const record: RunUpdate = { type: 'record', record: run.record, folder: run.folder };
  if (about === null) return [record];
  const points = new PointBuffer();
  for (const name of run.columns.names) {
    const column = run.columns.get(name);
    const isMonitor = name === about.ensembleMonitor;
    if (column === undefined || !(isMonitor || /^train\/member_\d+_loss$/.test(name))) continue;
    for (let i = isMonitor ? 0 : Math.max(0, column.length - 1); i < column.length; i++) {
      points.add(name, column.epoch[i], column.step[i], column.value[i]);
    }
  }
  const batch: RunUpdate[] = points.length === 0 ? [] : [{ type: 'points', rank: 0, batch: points.take() }];
  return [record, { type: 'described', about }, ...batch];
}
