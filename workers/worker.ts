import { connect } from './collectives/socket-channel.ts';
import { CollectiveError } from '../protocol/collectives.ts';
import type { HubMessage, Launch } from '../protocol/messages.ts';
import { ProcessGroup } from './collectives/process-group.ts';
import { sharedMemoryIn } from './collectives/shared-memory.ts';
import { guardAgainstOrphaning } from './guard.ts';
import { HubLink } from './hub-link.ts';
import { HubReport } from './hub-report.ts';
import { parameterCount } from './training/weights.ts';
import { type Prepared, runSession, type SessionLinks } from './session.ts';
import { Controls } from './training/controls.ts';
import { NonFiniteLossError } from './training/trainer.ts';
import { libraryVersions } from './versions.ts';

/** Entry of a worker process: joins the hub, trains one rank, leaves. Started by `src-main/runs/worker-handle.ts`. */

const [socketPath, rankText, token, guard] = process.argv.slice(2);
const rank = Number(rankText);
const controls = new Controls(rank);
const launched = Promise.withResolvers<Launch>();
const started = Promise.withResolvers<void>();
const dismissed = Promise.withResolvers<void>();
let group: ProcessGroup | null = null;

if (guard === 'unguarded') guardAgainstOrphaning();
const link = new HubLink(await connect(socketPath, 10_000), {
  message: take,
  collective: (frame) => group?.receive(frame),
  // Without a hub there is nothing to train for: what was saved is on disk, and a resumed run goes on from there.
  closed: () => process.exit(3),
});
link.send({ type: 'hello', rank, pid: process.pid, token });
const report = new HubReport(link);
await work(await launched.promise);
await dismissed.promise;
process.exit(0);

function take(message: HubMessage): void {
  switch (message.type) {
    case 'launch':
      controls.launch(message.launch.settings);
      return launched.resolve(message.launch);
    case 'start':
      return started.resolve();
    case 'recorded':
      return report.acknowledge();
    case 'leave':
      return dismissed.resolve();
    case 'control':
      return controls.take(message.control);
  }
}

async function work(launch: Launch): Promise<void> {
  const memory = sharedMemoryIn(launch.scratchFolder, rank, launch.groupRanks, { tell: tellFirst(launch) });
  group = new ProcessGroup(rank, launch.groupRanks, { send: (frame) => link.sendCollective(frame) }, memory);
  report.state('loading', report.position);
  const links: SessionLinks = {
    group,
    report,
    controls,
    ready: describe,
    started: started.promise,
    print: (line) => report.event('print', line, report.position),
  };
  try {
    const stopReason = await runSession(launch, links);
    report.flush();
    link.send({ type: 'finished', ...report.position, stopReason });
  } catch (error) {
    fail(error, launch.placement.device.id);
  }
}

/** What all ranks would say, the first one says. */
function tellFirst({ groupRanks }: Launch): (message: string) => void {
  return (message) => {
    if (rank === groupRanks[0]) report.event('large-arrays', message, report.position);
  };
}

function describe({ project, task, worker, model, data, trainingSamples, totalSteps }: Prepared): void {
  link.send({
    type: 'described',
    project: { name: project.name, description: project.description },
    task: task.kind,
    ensembleMonitor: task.ensembleMonitor,
    backend: worker.backend.description,
    parameterCount: parameterCount(model),
    totalSteps,
    samples: { train: trainingSamples, validation: data.validation?.length ?? 0, test: data.test?.length ?? 0 },
    versions: libraryVersions(),
  });
  report.state('ready', report.position);
}

function fail(error: unknown, device: string): void {
  report.flush();
  const at = error instanceof NonFiniteLossError ? error.at : { rank, ...report.position };
  const message = error instanceof Error ? error.message : String(error);
  link.send({
    type: 'failed',
    error: { message, device, rank: at.rank, epoch: at.epoch, step: at.step },
    stack: error instanceof Error ? (error.stack ?? '') : '',
    isConsequence: error instanceof CollectiveError || at.rank !== rank,
  });
}
