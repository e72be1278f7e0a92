import { enforcementIn } from '../../core/protocol/machine/confinement.ts';
import { messageOf } from '../../core/text/errors.ts';
import { connect } from '../collectives/socket-channel.ts';
import { CollectiveError } from '../../core/protocol/wire/collectives.ts';
import type { Control, HubMessage, Launch } from '../../core/protocol/run/messages.ts';
import { mayShrink } from '../../core/protocol/run/strategies/strategy-rules.ts';
import { MpiWorld } from '../collectives/mpi/mpi-world.ts';
import { ProcessGroup } from '../collectives/process-group.ts';
import { type SharedMemory, sharedMemoryIn } from '../collectives/memory/shared-memory.ts';
import { HubLink } from './hub-link.ts';
import { HubReport } from './hub-report.ts';
import { type ErrorSource, sourceOf, stackOf } from '../project/explain-error.ts';
import type { Prepared, Seat, SessionLinks } from './preparation/prepare.ts';
import { runSession } from './session.ts';
import { AgreedError } from '../member/report.ts';
import type { Controls } from '../training/controls.ts';
import { largestProduct, parameterCount } from '../member/weights.ts';
import { createRequire } from 'node:module';
import { tf } from '../tensorflow/tf.ts';

export interface RankLinkOptions {
  socketPath: string;
  rank: number;
  token: string;
  controls: Controls;
  /** Handles a control for this rank. */
  onControl(control: Control): void;
  /** The hub is gone or has given the rank up, or the connection to it broke. */
  onHubGone(): void;
  /** The number of ranks in the process, of all runs. */
  ranks: number;
}

/** A rank's connection to the hub: launch, controls, reports, collectives and dismissal. */
export class RankLink {
  /** Resolves when the hub dismisses the rank. */
  readonly dismissed: Promise<void>;
  private readonly options: RankLinkOptions;
  private readonly launched = Promise.withResolvers<Launch>();
  private readonly started = Promise.withResolvers<void>();
  private readonly left = Promise.withResolvers<void>();
  private readonly link: HubLink;
  private readonly report: HubReport;
  /** Whether the rank has reported an error. */
  hasFailed = false;
  private hasVacated = false;
  private group: ProcessGroup | null = null;
  private launch: Launch | null = null;
  private mpi: MpiWorld | null = null;
  private seated: Promise<Seat> | null = null;

  static async connect(options: RankLinkOptions): Promise<RankLink> {
    return new RankLink(options, await connect(options.socketPath, 10_000));
  }

  private constructor(options: RankLinkOptions, channel: Awaited<ReturnType<typeof connect>>) {
    this.options = options;
    this.dismissed = this.left.promise;
    this.link = new HubLink(channel, {
      message: (message) => this.take(message),
      collective: (frame) => this.group?.receive(frame),
      closed: () => this.hasVacated || options.onHubGone(),
    });
    this.report = new HubReport(this.link, options.ranks);
    const enforcement = enforcementIn(process.env);
    this.link.send({ type: 'hello', rank: options.rank, pid: process.pid, token: options.token, enforcement });
  }

  /** Resolves once the rank has been launched. */
  seat(): Promise<Seat> {
    this.seated ??= this.sit();
    return this.seated;
  }

  private async sit(): Promise<Seat> {
    const launch = await this.launched.promise;
    const { rank, controls } = this.options;
    // A group that may shrink uses no shared memory: each of its collectives is one request to the relay, which knows
    // who remains. Ranks of several nodes share none.
    const isOneNode = launch.nodeRanks.length === launch.groupRanks.length;
    const usesMemory = !mayShrink(launch.config) && isOneNode && launch.mpiProcesses === null;
    const memory = usesMemory ? this.sharedMemory(launch) : null;
    const group = new ProcessGroup(
      rank,
      launch.groupRanks,
      { send: (frame) => this.link.sendCollective(frame) },
      memory,
    );
    const { report } = this;
    this.group = group;
    this.launch = launch;
    report.state('loading', report.position);
    if (launch.mpiProcesses !== null) await this.enterMpi(group, launch, launch.mpiProcesses);
    const started = this.started.promise;
    const links: SessionLinks = { group, report, controls, started, print: (line) => this.print(line) };
    return { launch, links };
  }

  private async enterMpi(group: ProcessGroup, { groupRanks, nodeRanks }: Launch, processes: number): Promise<void> {
    this.mpi = await MpiWorld.enter(processes);
    group.useMpi(await this.mpi.connect(this.options.rank, groupRanks, nodeRanks[0]));
    this.tell(`Arrays go by MPI: ${this.mpi.description}.`);
  }

  private sharedMemory({ scratchFolder, groupRanks, config }: Launch): SharedMemory | null {
    return sharedMemoryIn(scratchFolder, this.options.rank, groupRanks, {
      // A rank that sleeps until others come would block the other ranks of its process.
      mayMap: this.options.ranks === 1,
      tell: (message) => this.tell(message),
      timeoutMs: config.timeouts.collectiveMs,
    });
  }

  /** Trains the rank of {@link seat} to the end, and reports the outcome to the hub. Never rejects. */
  async train(prepared: Prepared): Promise<void> {
    try {
      const { launch, links } = await this.seat();
      this.describe(prepared);
      const stopReason = await runSession(launch, links, prepared);
      this.report.flush();
      this.link.send({ type: 'finished', ...this.report.position, stopReason });
    } catch (error) {
      this.fail(error);
    } finally {
      prepared.leaveStack();
    }
  }

  /** Ends all waits for the hub. A rank that trains independently saves its state, and leaves. */
  loseHub(): void {
    const error = new CollectiveError('The hub is gone');
    this.options.controls.loseHub();
    this.report.loseHub();
    this.group?.fail(error);
    for (const waiting of [this.started, this.launched]) {
      waiting.promise.catch(() => undefined);
      waiting.reject(error);
    }
    this.left.resolve();
  }

  /** Tells the hub that the process no longer takes part in the run. */
  vacate(): void {
    this.hasVacated = true;
    this.link.send({ type: 'vacated' });
    this.link.close();
  }

  fail(error: unknown, isConsequence = error instanceof CollectiveError): void {
    this.hasFailed = true;
    const { report, launch } = this;
    const { rank } = this.options;
    report.flush();
    const at = error instanceof AgreedError ? error.at : { rank, ...report.position };
    const device = launch?.placement.device.id ?? null;
    const place: ErrorSource = launch === null ? {} : sourceOf(error, launch.projectFolder);
    const failure = { message: messageOf(error), device, rank: at.rank, epoch: at.epoch, step: at.step, ...place };
    const isFollowing = isConsequence || at.rank !== rank;
    const stack = stackOf(error);
    console.error(isFollowing ? `Rank ${rank} ends with its group: ${failure.message}` : logged(failure, stack));
    this.link.send({ type: 'failed', error: failure, stack, isConsequence: isFollowing });
  }

  private take(message: HubMessage): void {
    switch (message.type) {
      case 'launch':
        this.options.controls.launch(message.launch.settings);
        return this.launched.resolve(message.launch);
      case 'start':
        return this.started.resolve();
      case 'recorded':
        return this.report.acknowledge(message.rows);
      case 'written':
        return this.report.written(message.count);
      case 'remaining':
        return this.group?.shrink(message.ranks);
      case 'leave':
        // All ranks are told so. One that has failed leaves others in calls of MPI, which would not end here.
        return this.left.resolve(this.hasFailed ? undefined : this.mpi?.leave());
      case 'abandon':
        return this.options.onHubGone();
      case 'control':
        return this.options.onControl(message.control);
    }
  }

  /** Reports a message that is the same on all ranks: only the first sends it. */
  private tell(message: string): void {
    const isFirst = this.launch?.groupRanks[0] === this.options.rank;
    if (isFirst) this.report.event('large-arrays', message, this.report.position);
  }

  private print(line: string): void {
    this.report.event('print', line, this.report.position);
  }

  private describe({ project, config, task, backend, model, data, batches, trainer }: Prepared): void {
    this.link.send({
      type: 'described',
      project: { name: project.name, description: project.description },
      task: task.kind,
      ensembleMonitor: task.ensembleMonitor,
      backend: backend.description,
      parameterCount: parameterCount(model),
      largestProduct: largestProduct(model, config.batchSize),
      totalSteps: trainer.totalSteps,
      samples: { train: batches.length, validation: data.validation?.length ?? 0, test: data.test?.length ?? 0 },
      versions: libraryVersions(),
    });
    this.report.state('ready', this.report.position);
  }
}

/** What the rank's log keeps of an error: the place in the project's code, its lines, and the whole stack. */
function logged({ source, excerpt }: ErrorSource, stack: string): string {
  return [...(source === undefined ? [] : [`at ${source}`]), ...(excerpt === undefined ? [] : [excerpt]), stack].join(
    '\n',
  );
}

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

/** Versions of the libraries that determine a run's numbers. */
export function libraryVersions(): Record<string, string> {
  return {
    tutti: version,
    node: process.versions.node,
    'tfjs-core': tf.version_core,
    'tfjs-layers': tf.version_layers,
  };
}
