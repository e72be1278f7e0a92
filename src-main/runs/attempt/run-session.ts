import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { isSameSecret, randomSecret } from '../../../core/node/secrets.ts';
import { messageOf } from '../../../core/text/errors.ts';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { LoadSample } from '../../../core/protocol/machine/devices.ts';
import { type Control, workerMessageSchema } from '../../../core/protocol/run/messages.ts';
import type { ControlRequest } from '../../../core/protocol/run/control-state.ts';
import type { Attempt, RunError, RunRecord, RunStatus, RunSummary } from '../../../core/protocol/run/record.ts';
import { listen } from '../../relay/socket-server.ts';
import { removeAsides } from '../../../core/node/atomic-file.ts';
import type { FileLock } from '../../../core/node/file-lock.ts';
import type { RunIndex } from '../../store/index/run-index.ts';
import { withEnd } from '../recording/attempts.ts';
import { ControlSocket } from '../control/control-socket.ts';
import { LoadSampler } from '../recording/load-sampler.ts';
import { RunControls } from '../control/run-controls.ts';
import { type ResumeStart, type RunListener, RunRecorder } from '../recording/run-recorder.ts';
import { keepEndedAttempt } from '../../store/runs/kept-attempt.ts';
import { codeOfRun, noteTrained } from '../configuration/kept-code.ts';
import { keepSource } from '../recording/kept-source.ts';
import { RecordRoom } from '../recording/record-writes.ts';
import { taskOf } from '../../nodes/place.ts';
import type { TaskServer } from '../../nodes/task-server.ts';
import { FolderGuard } from '../../store/runs/hub-lock.ts';
import { type FollowServer, serveRun } from '../../attach/served/follow-server.ts';
import { ScratchFolder } from '../workers/scratch.ts';
import type { WaveOutcome } from './wave.ts';
import type { WorkerSeat } from '../workers/shared-workers.ts';
import type { WorkerHost } from '../workers/worker-host.ts';
import { completed, type Completion, recordAfter, whyNotCompleted } from './completion.ts';
import { WaveSequence } from './wave-sequence.ts';

export interface SessionOptions {
  folder: string;
  index: RunIndex;
  listener: RunListener;
  /** Writes the run's record with this hub in it, for a new run or one that is taken over. */
  claim(hub: NonNullable<RunRecord['hub']>): Promise<Claim>;
  /** Whether the ranks continue from their newest common state. */
  resume: boolean;
  /** Where a forked run begins; absent for other runs. */
  start?: ResumeStart;
  /** Keeps the worker processes for the next run; absent: they end with this one. */
  host?: WorkerHost;
  /** Missing members that train alone; absent or null: all ranks that are not missing train. */
  completion?: Completion | null;
  /**
   * Where its ranks train in one process with those of other runs; absent or null: its processes train no other run.
   */
  seat?: WorkerSeat | null;
  /** The tasks of a launch on several nodes, which start its workers there; absent or null: all run on this machine. */
  tasks?: TaskServer | null;
}

interface Claim {
  record: RunRecord;
  /** The record before a resume; null for a new run. */
  before: RunRecord | null;
  /** The lock of the run's hub, held until the run has ended. */
  lock: FileLock;
}

/** The session of one process with a run: it trains the waves, records their reports, and concludes the run. */
export class RunSession {
  private readonly options: SessionOptions;
  private readonly token = randomSecret();
  private waves: WaveSequence | null = null;
  private isAborted = false;
  /** Whether this attempt has written to the run's files. A resume only does once its ranks are ready. */
  private hasBegun = false;
  private readonly controls = new RunControls();
  private recorder: RunRecorder | null = null;
  /** Lets other machines follow the run; null where nothing listens. */
  private served: FollowServer | null = null;
  /** Lets the first write of a resume wait for space, when there is no recorder yet. */
  private readonly claimRoom: RecordRoom;

  constructor(options: SessionOptions) {
    this.options = options;
    this.claimRoom = new RecordRoom((kind, message, data) => {
      const at = { time: new Date().toISOString(), attempt: 1, rank: null, epoch: null, step: null };
      options.listener({ type: 'event', event: { ...at, kind, message, data } });
    });
  }

  /**
   * Runs the session to its end.
   * @returns the final record, also of a failed run
   * @throws Error if the run could not start because of its folder, socket or files. A resume that fails before a rank
   * trains leaves the record unchanged
   */
  async run(): Promise<RunRecord> {
    const scratch = await ScratchFolder.create();
    const socketPath = join(scratch.path, 'hub.sock');
    const server = await listen(socketPath);
    try {
      const controlSocket = await ControlSocket.open(socketPath, (request) => this.obey(request));
      const claim = await this.claim({ host: hostname(), pid: process.pid, socket: socketPath });
      server.onConnection((channel) => this.greet(channel, controlSocket));
      this.options.tasks?.onRank((channel) => this.greet(channel, controlSocket));
      try {
        return await this.attempt(claim, { scratchFolder: scratch.path, overflowFolder: scratch.overflow, socketPath });
      } finally {
        await this.served?.close();
        claim.lock.release();
      }
    } finally {
      await server.close();
      await scratch.remove();
    }
  }

  /**
   * Sends a control to the ranks. A stop ends any pause, and ends the run after a last joint evaluation.
   * @throws Error with the reason for a refusal: one rank cannot stop alone, a checkpoint cannot have that name, ...
   */
  control(control: Control): void {
    this.controls.take(control);
    if (control.action === 'stop' && !this.hasBegun) this.waitNoMore();
  }

  /** Records an event that concerns this process and no rank. Does nothing before the run has a record. */
  note(kind: string, message: string, data: Record<string, unknown> = {}): void {
    this.recorder?.event(null, kind, message, { data });
  }

  /** Resolves once all updates so far can be read from the run's folder. */
  async written(): Promise<void> {
    await this.recorder?.written();
  }

  /** Kills all workers immediately. */
  abort(): void {
    this.isAborted = true;
    this.waitNoMore();
    this.waves?.abort();
  }

  /** Lets writes that wait for space on the disk fail. */
  private waitNoMore(): void {
    this.claimRoom.abandon();
    this.recorder?.waitNoMore();
  }

  /** A new run is refused where the disk is full; a resume waits for space. */
  private claim(hub: NonNullable<RunRecord['hub']>): Promise<Claim> {
    const { options } = this;
    return options.resume ? this.claimRoom.write(() => options.claim(hub)) : options.claim(hub);
  }

  private async attempt(
    { record, before, lock }: Claim,
    paths: { scratchFolder: string; overflowFolder: string | null; socketPath: string },
  ): Promise<RunRecord> {
    const { folder, index, listener } = this.options;
    const recorder = new RunRecorder(folder, record, index, listener, (event) => this.waves?.follow(event));
    this.recorder = recorder;
    this.controls.begin(recorder);
    if (before !== null) await recorder.setAsideUnusable();
    // The files of a resumed run stay unchanged until its ranks are ready.
    if (before === null) await this.begin(recorder, this.options.start ?? null);
    await recorder.change({ status: 'running' });
    await this.serve(recorder);
    const loads = this.sampleLoads(recorder);
    const { controls, token, options, isAborted } = this;
    const waves = new WaveSequence({
      recorder,
      controls,
      token,
      ...paths,
      resume: options.resume,
      host: options.host ?? null,
      completion: options.completion ?? null,
      seat: options.seat ?? null,
      tasks: options.tasks ?? null,
      begin: (from) => (this.hasBegun ? Promise.resolve() : this.begin(recorder, from)),
    });
    this.waves = waves;
    if (isAborted) waves.abort();
    const guard = new FolderGuard(lock, () => waves.abort());
    const train = async (): Promise<WaveOutcome> => {
      // First of all, because ranks that continue undo the last evaluation of a stop.
      if (before !== null) await recorder.whenThereIsRoom(() => keepEndedAttempt(folder, before));
      return waves.run();
    };
    const outcome = await train().catch(failedBy);
    await loads.stop();
    this.options.tasks?.restAfterRun();
    if (await guard.stop()) throw this.folderLost(recorder);
    if (before !== null && !this.hasBegun && outcome.kind !== 'finished') return this.undo(recorder, before, outcome);
    return this.conclude(recorder, outcome, before);
  }

  /** Sets what concerns other nodes and machines. */
  private async serve(recorder: RunRecorder): Promise<void> {
    const { tasks = null } = this.options;
    tasks?.settle(recorder.record.config.timeouts.heartbeatMs);
    tasks?.onJoin((node) => recorder.event(null, 'node-joined', joined(node)));
    this.served = await serveRun({
      record: recorder.record,
      folder: resolve(recorder.folder),
      launch: tasks,
      obey: (request) => this.obey(request),
      failed: (reason) => recorder.event(null, 'not-reachable', reason),
    });
  }

  /** Starts to write this attempt to the run's files and record. */
  private async begin(recorder: RunRecorder, from: ResumeStart | null): Promise<void> {
    const { resume } = this.options;
    await recorder.begin(resume ? from : null);
    this.hasBegun = true;
    const { attempts, project } = recorder.record;
    const recorded = attempts.at(-1)?.sourceHash;
    const kept = await recorder.whenThereIsRoom(() => keepSource(recorder.folder, project.folder, recorded));
    if (kept !== null) await noteCode(recorder, kept);
    recorder.event(null, 'started', `Attempt ${attempts.length} started.`, { step: from?.at?.step ?? null });
    if (hasNewSource(attempts)) recorder.event(null, 'source-changed', sourceChanged(recorder.record));
    const { sourceFolder } = await codeOfRun(recorder.folder, recorder.record);
    if (sourceFolder !== null) recorder.event(null, 'source-kept', sourceKept(recorder.record));
  }

  /**
   * Restores the run as its last attempt left it, since nothing was trained.
   * @throws Error with the reason, unless the user ended it
   */
  private async undo(recorder: RunRecorder, before: RunRecord, outcome: WaveOutcome): Promise<RunRecord> {
    const reason = outcome.kind === 'failed' ? outcome.error.message : null;
    const message = `A resume did not start and changed nothing: ${reason ?? 'it was ended before its ranks were ready.'}`;
    recorder.event(null, 'resume-failed', message);
    await recorder.change({ ...before, changed: before.changed, hub: null });
    await recorder.close();
    recorder.update({ type: 'ended', record: recorder.record });
    if (reason !== null) throw new Error(`The run ${before.id} could not be resumed and is unchanged: ${reason}`);
    return recorder.record;
  }

  /** Ends the run without another write: what is at the folder's path now, if anything, is not this run. */
  private folderLost(recorder: RunRecorder): Error {
    const { id } = recorder.record;
    const message =
      `The folder ${recorder.folder} of the run ${id} was removed, moved or replaced while it trained, ` +
      'so the run was ended and ' +
      `nothing more is written. If the folder was moved, continue the run there: tutti resume <the new folder>.`;
    recorder.discard(message);
    return new Error(message);
  }

  private sampleLoads(recorder: RunRecorder): LoadSampler {
    const listener = {
      sampled: (sample: LoadSample) => recorder.deviceLoads(sample),
      failed: (reason: string) => recorder.event(null, 'loads-unknown', reason),
    };
    const devices = recorder.record.plan.map(({ device }) => device);
    this.options.tasks?.sampleLoads(devices, listener);
    const here = devices.filter((device) => taskOf(device) === 0);
    return new LoadSampler([...new Map(here.map((device) => [device.id, device])).values()], listener);
  }

  private obey(request: ControlRequest): void {
    if (request.action === 'abort') this.abort();
    else this.control(request);
  }

  /** Accepts a connection whose first message is a worker's hello or a control request, each with its own token. */
  private greet(channel: Channel, controlSocket: ControlSocket): void {
    channel.onFrame((frame) => {
      if (controlSocket.answer(channel, frame)) return;
      const parsed = workerMessageSchema.safeParse(frame.kind === 'message' ? frame.message : null);
      const hello = parsed.success && parsed.data.type === 'hello' ? parsed.data : null;
      if (hello === null || !isSameSecret(hello.token, this.token) || this.waves === null) return channel.close();
      this.waves.accept(hello, channel);
    });
  }

  private async conclude(recorder: RunRecorder, outcome: WaveOutcome, before: RunRecord | null): Promise<RunRecord> {
    const closing = await recorder.close().then(
      () => null,
      (error: unknown) => messageOf(error),
    );
    const verdict = this.verdict(recorder, outcome, closing);
    const { status, error } = verdict;
    const isEarly = outcome.kind === 'finished' && outcome.stopReason === 'early-stopping';
    recorder.ended(status, error?.message ?? `The run ended: ${status}${isEarly ? ' by early stopping' : ''}.`);
    const attempts = withEnd(recorder.record.attempts, status, recorder.record.changed);
    const endedAt = attempts.at(-1)?.endedAt ?? null;
    const { completion } = this.options;
    const isCompletion = completion && before !== null;
    const changes = isCompletion ? recordAfter(completion, before, status, recorder.summary('completed')) : verdict;
    if (isCompletion && status === 'finished') {
      const { epoch, step } = completion.until;
      recorder.event(null, 'member-completed', completed(completion), { epoch, step });
    }
    await recorder.change({ ...changes, endedAt, attempts, hub: null });
    // Its workers, and those of hubs before it that were killed, have ended.
    await removeAsides(recorder.folder, { isDeep: true });
    await recorder.requireKept();
    recorder.update({ type: 'ended', record: recorder.record });
    if (isCompletion && error !== null) throw whyNotCompleted(completion, error);
    return recorder.record;
  }

  private verdict(
    recorder: RunRecorder,
    outcome: WaveOutcome,
    closing: string | null,
  ): { status: RunStatus; error: RunError | null; summary: RunSummary | null } {
    // The summary of an earlier attempt stays until there is a new one.
    const earlier = recorder.record.summary;
    if (outcome.kind === 'failed') return { status: 'failed', error: outcome.error, summary: earlier };
    if (outcome.kind === 'aborted') return { status: 'interrupted', error: null, summary: earlier };
    const summary = recorder.summary(outcome.stopReason);
    if (closing !== null) {
      const error = { message: closing, rank: null, device: null, epoch: null, step: null };
      return { status: 'failed', error, summary };
    }
    return { status: outcome.stopReason === 'requested' ? 'stopped' : 'finished', error: null, summary };
  }
}

function failedBy(reason: unknown): WaveOutcome {
  const error = { message: messageOf(reason), rank: null, device: null, epoch: null, step: null };
  return { kind: 'failed', error, isProcessLost: false };
}

function joined(node: string): string {
  return `The node ${node} has joined. It takes part from the next restart on.`;
}

/** Notes that the run's code may run again from its folder. A home that cannot be written does not affect the run. */
async function noteCode(recorder: RunRecorder, hash: string): Promise<void> {
  try {
    await noteTrained(hash);
  } catch (error) {
    const message = `This attempt's code is kept, but cannot run from the run's folder later: ${messageOf(error)}`;
    recorder.event(null, 'source-not-noted', message);
  }
}

/** Whether the project's source is known to differ from that of the attempt before. */
function hasNewSource(attempts: readonly Attempt[]): boolean {
  const [before, now] = attempts.slice(-2).map(({ sourceHash }) => sourceHash);
  return attempts.length > 1 && before !== undefined && before !== now;
}

function sourceKept({ id, project, attempts, origin }: RunRecord): string {
  if (attempts.length === 1 && origin !== undefined) {
    return (
      `The source in ${project.folder} has changed since ${origin.name} trained. This fork trains with the code ` +
      `that ${origin.name} kept; tutti fork ${origin.run} --current-source takes the present code.`
    );
  }
  return (
    `The source in ${project.folder} has changed since attempt ${attempts.length - 1}. This attempt trains with ` +
    `the code that the run kept; tutti resume ${id} --current-source takes the present code.`
  );
}

function sourceChanged({ project, attempts }: RunRecord): string {
  return (
    `The source in ${project.folder} has changed since attempt ${attempts.length - 1}. This attempt trains with ` +
    'the present source.'
  );
}
