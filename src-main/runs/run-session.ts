import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Channel } from '../../protocol/channel.ts';
import type { WireArray } from '../../protocol/frames.ts';
import { type Control, type Launch, workerMessageSchema, type WorkerMessage } from '../../protocol/messages.ts';
import type { ControlRequest } from '../../protocol/remote-control.ts';
import type { RunError, RunRecord, RunStatus, RunSummary } from '../../protocol/run-record.ts';
import { listen } from '../relay/socket-server.ts';
import { checkDiskSpace, forecastRunBytes } from '../store/disk-space.ts';
import { dataFolders } from '../store/home.ts';
import type { RunIndex } from '../store/run-index.ts';
import { ControlDoor } from './control-door.ts';
import { LoadSampler } from './load-sampler.ts';
import { pointBatch } from './point-batch.ts';
import { currentSettings, RunControls } from './run-controls.ts';
import { type RunListener, RunRecorder } from './run-recorder.ts';
import { createScratchFolder } from './scratch.ts';
import { Wave, type WaveOutcome } from './wave.ts';
import type { WorkerHandle } from './worker-handle.ts';

export interface SessionOptions {
  folder: string;
  index: RunIndex;
  listener: RunListener;
  /** Makes the run's record on disk, new or taken over, with this hub in it. */
  claim(hub: NonNullable<RunRecord['hub']>): Promise<RunRecord>;
  resume: { afterStep: number | undefined } | null;
}

/** One attempt at a run: spawns its waves of workers, keeps what they report, and sees to it that all of them end. */
export class RunSession {
  private readonly options: SessionOptions;
  private readonly token = randomBytes(16).toString('hex');
  private wave: Wave | null = null;
  private isAborted = false;
  private readonly controls = new RunControls();
  private recorder: RunRecorder | null = null;

  constructor(options: SessionOptions) {
    this.options = options;
  }

  /**
   * Runs it to its end.
   * @returns the record as it ended; a run that failed is returned, not thrown
   * @throws when the run could not begin: its folder, socket or files cannot be had
   */
  async run(): Promise<RunRecord> {
    const scratchFolder = await createScratchFolder();
    const socketPath = join(scratchFolder, 'hub.sock');
    const server = await listen(socketPath);
    try {
      const door = await ControlDoor.open(socketPath, (request) => this.obey(request));
      const record = await this.options.claim({ host: hostname(), pid: process.pid, socket: socketPath });
      const { folder, index, listener, resume } = this.options;
      const recorder = new RunRecorder(folder, record, index, listener);
      this.recorder = recorder;
      this.controls.begin(recorder);
      await recorder.open(resume?.afterStep);
      server.onConnection((channel) => this.greet(channel, door));
      return await this.attempt(recorder, { scratchFolder, socketPath });
    } finally {
      await server.close();
      await rm(scratchFolder, { recursive: true, force: true });
    }
  }

  /**
   * Asks the ranks for something; a stop ends the run after a last joint evaluation, and any pause.
   * @throws Error that says why it cannot be: one rank cannot stop alone, a checkpoint cannot have that name, ...
   */
  control(control: Control): void {
    this.controls.take(control);
  }

  /** Resolves once all that was told so far can be read in the run's folder. */
  async written(): Promise<void> {
    await this.recorder?.written();
  }

  /** Ends all workers at once. */
  abort(): void {
    this.isAborted = true;
    this.wave?.abort();
  }

  private async attempt(recorder: RunRecorder, paths: { scratchFolder: string; socketPath: string }) {
    await recorder.change({ status: 'running' });
    const step = this.options.resume?.afterStep ?? null;
    recorder.event(null, 'started', `Attempt ${recorder.record.attempts.length} started.`, { step });
    const loads = this.sampleLoads(recorder);
    const outcome = await this.runWaves(recorder, paths).catch((error: unknown): WaveOutcome => {
      const message = error instanceof Error ? error.message : String(error);
      return { kind: 'failed', error: { message, rank: null, device: null, epoch: null, step: null } };
    });
    await loads.stop();
    return this.conclude(recorder, outcome);
  }

  private sampleLoads(recorder: RunRecorder): LoadSampler {
    const devices = new Map(recorder.record.plan.map(({ device }) => [device.id, device]));
    return new LoadSampler([...devices.values()], {
      sampled: (sample) => recorder.deviceLoads(sample),
      failed: (reason) => recorder.event(null, 'loads-unknown', reason),
    });
  }

  private async runWaves(
    recorder: RunRecorder,
    paths: { scratchFolder: string; socketPath: string },
  ): Promise<WaveOutcome> {
    const { plan } = recorder.record;
    let outcome: WaveOutcome = { kind: 'aborted' };
    for (const placements of Map.groupBy(plan, ({ wave }) => wave).values()) {
      if (this.isAborted) return { kind: 'aborted' };
      recorder.setRanks(placements.map(({ rank }) => rank));
      this.wave = new Wave({
        placements,
        launch: this.launch(recorder, paths.scratchFolder),
        socketPath: paths.socketPath,
        token: this.token,
        openLog: (rank) => recorder.openLog(rank),
        listener: {
          message: (handle, message, arrays) => this.take(recorder, handle, message, arrays),
          exited: ({ rank, epoch, step, pid }) =>
            recorder.update({ type: 'worker', rank, state: 'exited', epoch, step, pid }),
          beforeStart: () => this.checkDisk(recorder),
        },
      });
      this.controls.enter(this.wave);
      outcome = await this.wave.outcome();
      if (outcome.kind !== 'finished' || outcome.stopReason === 'requested') return outcome;
    }
    return outcome;
  }

  private launch(recorder: RunRecorder, scratchFolder: string): Omit<Launch, 'placement' | 'groupRanks'> {
    const { record, folder } = recorder;
    return {
      runId: record.id,
      runFolder: folder,
      scratchFolder,
      projectFolder: record.project.folder,
      dataFolders: dataFolders(),
      config: record.config,
      blas: record.blas,
      settings: currentSettings(record),
      attempt: record.attempts.length,
      resume: this.options.resume !== null,
    };
  }

  private obey(request: ControlRequest): void {
    if (request.action === 'abort') this.abort();
    else this.control(request);
  }

  /** A connection counts once its first word is a hello of a worker or a request, each with its own token. */
  private greet(channel: Channel, door: ControlDoor): void {
    channel.onFrame((frame) => {
      if (door.answer(channel, frame)) return;
      const parsed = workerMessageSchema.safeParse(frame.kind === 'message' ? frame.message : null);
      if (!parsed.success || parsed.data.type !== 'hello' || parsed.data.token !== this.token || this.wave === null) {
        channel.close();
        return;
      }
      this.wave.accept(parsed.data.rank, channel);
    });
  }

  private async checkDisk(recorder: RunRecorder): Promise<void> {
    const { config } = recorder.record;
    const parameterCount = recorder.facts?.parameterCount ?? 0;
    await checkDiskSpace(recorder.folder, forecastRunBytes({ parameterCount, members: config.members, config }));
  }

  private take(recorder: RunRecorder, handle: WorkerHandle, message: WorkerMessage, arrays: WireArray[]): void {
    const { rank, pid } = handle;
    switch (message.type) {
      case 'described':
        return this.describe(recorder, rank, message);
      case 'state':
        return recorder.update({
          type: 'worker',
          rank,
          state: message.state,
          epoch: message.epoch,
          step: message.step,
          pid,
        });
      case 'progress': {
        const { epoch, step, samplesPerSecond, memoryBytes } = message;
        const totalSteps = recorder.facts?.totalSteps ?? 0;
        return recorder.update({ type: 'progress', rank, epoch, step, totalSteps, samplesPerSecond, memoryBytes });
      }
      case 'points':
        return recorder.points(rank, pointBatch(message.names, arrays));
      case 'event': {
        const { kind, epoch, step, data } = message;
        return recorder.event(rank, kind, message.message, { epoch, step, data });
      }
      case 'checkpoint':
        return recorder.checkpoint(message.record);
      case 'saving-state':
        void recorder.keepMetrics().then(() => handle.send({ type: 'recorded' }));
        return;
      case 'evaluated':
        return recorder.evaluated(message.set);
      case 'finished':
        return recorder.reached(message.epoch, message.step);
      case 'failed':
        if (!message.isConsequence)
          recorder.event(rank, 'failed', message.error.message, { data: { stack: message.stack } });
    }
  }

  private describe(recorder: RunRecorder, rank: number, message: WorkerMessage & { type: 'described' }): void {
    const { project, versions, task, backend, parameterCount, totalSteps, ensembleMonitor, samples } = message;
    if (recorder.facts !== null) return;
    const facts = { task, backend, parameterCount, totalSteps, ensembleMonitor, samples };
    recorder.described(facts, versions);
    const about = `${project.name}: ${parameterCount} parameters, ${totalSteps} steps, ${backend}.`;
    recorder.event(rank, 'described', about, { data: { ...versions, ...facts } });
  }

  private async conclude(recorder: RunRecorder, outcome: WaveOutcome): Promise<RunRecord> {
    const closing = await recorder.close().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const { status, error, summary } = this.verdict(recorder, outcome, closing);
    recorder.event(null, status, error?.message ?? `The run ended: ${status}.`);
    const endedAt = new Date().toISOString();
    const attempts = recorder.record.attempts.map((attempt, i, all) =>
      i === all.length - 1 ? { ...attempt, endedAt, status } : attempt,
    );
    await recorder.change({ status, error, summary, endedAt, attempts, hub: null });
    recorder.update({ type: 'ended', record: recorder.record });
    return recorder.record;
  }

  private verdict(
    recorder: RunRecorder,
    outcome: WaveOutcome,
    closing: string | null,
  ): { status: RunStatus; error: RunError | null; summary: RunSummary | null } {
    if (outcome.kind === 'failed') return { status: 'failed', error: outcome.error, summary: null };
    if (outcome.kind === 'aborted') return { status: 'interrupted', error: null, summary: null };
    const summary = recorder.summary(outcome.stopReason);
    if (closing !== null) {
      const error = { message: closing, rank: null, device: null, epoch: null, step: null };
      return { status: 'failed', error, summary };
    }
    return { status: outcome.stopReason === 'requested' ? 'stopped' : 'finished', error: null, summary };
  }
}
