import { Socket } from 'node:net';
import { channelOver, hubPipe } from '../core/protocol/wire/channel.ts';
import { frameOfValue, valueOfFrame } from '../core/protocol/wire/value-frame.ts';
import { messageOf } from '../core/text/errors.ts';
import type { RunUpdate } from '../core/protocol/pages/run-updates.ts';
import { summarize } from './cli/commands/summary.ts';
import { guardOutputs } from './cli/outputs.ts';
import { watchSignals } from './cli/signals.ts';
import type { DetachedJob, DetachedReport } from './hub/detach.ts';
import { Hub } from './hub/hub.ts';
import type { RunSession } from './runs/attempt/run-session.ts';
import { NothingLeftError } from './runs/attempt/resume-run.ts';

/**
 * The process that trains a detached run. `startDetached` starts it and listens until all ranks are ready; afterwards
 * the run's files and its socket are the only connections to it.
 */

guardOutputs();
const channel = channelOver(new Socket({ fd: hubPipe }));
channel.onFrame((frame) => {
  train(valueOfFrame(frame) as DetachedJob).catch((error: unknown) => {
    if (error instanceof NothingLeftError) return report({ type: 'ended', status: 'finished', error: null });
    console.error(error);
    report({ type: 'failed', message: messageOf(error) });
    process.exitCode = 1;
  });
});

async function train(job: DetachedJob): Promise<void> {
  const hub = await Hub.open();
  try {
    const session = await open(hub, job);
    const signals = watchSignals(session, say);
    say(`Process ${process.pid} trains the run in ${job.folder}.`);
    const { status, error, ...record } = await session.run().finally(() => signals.release());
    say(summarize({ ...record, status, error }, job.folder).join('\n'));
    report({ type: 'ended', status, error: error?.message ?? null });
  } finally {
    hub.close();
  }
}

async function open(hub: Hub, job: DetachedJob): Promise<RunSession> {
  if (job.kind === 'start') return hub.start(job.planned, follow);
  if (job.kind === 'fork') return hub.fork(job.planned, follow);
  return hub.resume(job.folder, job.override, follow, { rank: job.rank, currentSource: job.currentSource });
}

function follow(update: RunUpdate): void {
  if (update.type === 'worker' && update.state === 'training') report({ type: 'ready' });
}

/** Only the first report has a listener. */
function report(message: DetachedReport): void {
  // Where the listener has gone meanwhile, nothing is lost.
  if (!channel.isOpen) return;
  channel.send(frameOfValue(message));
  channel.close();
}

function say(text: string): void {
  process.stdout.write(`${new Date().toISOString()} ${text}\n`);
}
