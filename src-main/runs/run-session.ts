import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Channel } from '../../protocol/channel.ts';
import { type Control, workerMessageSchema } from '../../protocol/messages.ts';
import type { ControlRequest } from '../../protocol/remote-control.ts';
import type { RunError, RunRecord, RunStatus, RunSummary } from '../../protocol/run-record.ts';
import { listen } from '../relay/socket-server.ts';
import type { RunIndex } from '../store/run-index.ts';
import { withEnd } from './attempts.ts';
import { ControlDoor } from './control-door.ts';
import { LoadSampler } from './load-sampler.ts';
import { RunControls } from './run-controls.ts';
import { type RunListener, RunRecorder } from './run-recorder.ts';
import { createScratchFolder } from './scratch.ts';
import type { WaveOutcome } from './wave.ts';
import { WaveSequence } from './wave-sequence.ts';

export interface SessionOptions {
  folder: string;
  index: RunIndex;
  listener: RunListener;
  /** Makes the run's record on disk, new or taken over, with this hub in it. */
  claim(hub: NonNullable<RunRecord['hub']>): Promise<RunRecord>;
  resume: { afterStep: number | undefined } | null;
}

/** One process's work on a run: has its waves trained, keeps what they report, and says how it ended. */
export class RunSession {
  private readonly options: SessionOptions;
  private readonly token = randomBytes(16).toString('hex');
  private waves: WaveSequence | null = null;
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
    this.waves?.abort();
  }

  private async attempt(recorder: RunRecorder, paths: { scratchFolder: string; socketPath: string }) {
    await recorder.change({ status: 'running' });
    const step = this.options.resume?.afterStep ?? null;
    recorder.event(null, 'started', `Attempt ${recorder.record.attempts.length} started.`, { step });
    const loads = this.sampleLoads(recorder);
    const { controls, token, options, isAborted } = this;
    const waves = new WaveSequence({ recorder, controls, token, ...paths, resume: options.resume !== null });
    this.waves = waves;
    if (isAborted) waves.abort();
    const outcome = await waves.run().catch((reason: unknown): WaveOutcome => {
      const message = reason instanceof Error ? reason.message : String(reason);
      const error = { message, rank: null, device: null, epoch: null, step: null };
      return { kind: 'failed', error, isProcessLost: false };
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

  private obey(request: ControlRequest): void {
    if (request.action === 'abort') this.abort();
    else this.control(request);
  }

  /** A connection counts once its first word is a hello of a worker or a request, each with its own token. */
  private greet(channel: Channel, door: ControlDoor): void {
    channel.onFrame((frame) => {
      if (door.answer(channel, frame)) return;
      const parsed = workerMessageSchema.safeParse(frame.kind === 'message' ? frame.message : null);
      const hello = parsed.success && parsed.data.type === 'hello' ? parsed.data : null;
      if (hello === null || hello.token !== this.token || this.waves === null) return channel.close();
      this.waves.accept(hello.rank, channel);
    });
  }

  private async conclude(recorder: RunRecorder, outcome: WaveOutcome): Promise<RunRecord> {
    const closing = await recorder.close().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const { status, error, summary } = this.verdict(recorder, outcome, closing);
    recorder.event(null, status, error?.message ?? `The run ended: ${status}.`);
    const attempts = withEnd(recorder.record.attempts, status);
    const endedAt = attempts.at(-1)?.endedAt ?? null;
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
