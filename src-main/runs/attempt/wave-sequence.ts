import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { Launch } from '../../../core/protocol/run/messages.ts';
import type { RunError } from '../../../core/protocol/run/record.ts';
import { checkDiskSpace, forecastRunBytes } from '../../store/disk-space.ts';
import { dataFolders } from '../../store/home.ts';
import { findResumePoint } from '../../store/runs/resume-point.ts';
import type { LogFile } from '../recording/log-file.ts';
import { keepMessage } from './rank-messages.ts';
import { currentSettings, type RunControls } from '../control/run-controls.ts';
import type { RunRecorder } from '../recording/run-recorder.ts';
import { Wave, type WaveOutcome } from './wave.ts';

export interface WaveSequenceOptions {
  recorder: RunRecorder;
  controls: RunControls;
  /** Owner-only; removed at the end of the session. */
  scratchFolder: string;
  socketPath: string;
  /** The token that workers send with their hello. */
  token: string;
  /** Whether ranks continue from their newest common state. */
  resume: boolean;
  /** Called each time that all ranks of a wave are ready, before they train. */
  begin(): Promise<void>;
}

/**
 * Runs the waves of a run, one after the other. A wave that loses a process restarts from the newest state that all its ranks have saved
 * (or from its start if there is none), up to `restarts` times.
 */
export class WaveSequence {
  readonly #options: WaveSequenceOptions;
  readonly #waves: Placement[][];
  #wave: Wave | null = null;
  #isAborted = false;
  #resume: boolean;
  #restarts = 0;

  constructor(options: WaveSequenceOptions) {
    this.#options = options;
    this.#resume = options.resume;
    this.#waves = [...Map.groupBy(options.recorder.record.plan, ({ wave }) => wave).values()];
  }

  async run(): Promise<WaveOutcome> {
    let outcome: WaveOutcome = { kind: 'aborted' };
    for (const placements of this.#waves) {
      outcome = await this.#runWave(placements, null);
      while (this.#mayRestart(outcome)) {
        const note = await this.#prepareRestart(placements, outcome.error);
        outcome = await this.#runWave(placements, note);
      }
      if (outcome.kind !== 'finished' || outcome.stopReason === 'requested') return outcome;
    }
    return outcome;
  }

  /** Takes the connection of a worker that has sent its hello. */
  accept(rank: number, channel: Channel): void {
    if (this.#wave === null) channel.close();
    else this.#wave.accept(rank, channel);
  }

  /** Kills all workers immediately and starts no more. */
  abort(): void {
    this.#isAborted = true;
    this.#wave?.abort();
  }

  /** @param note first line for the logs of its ranks */
  async #runWave(placements: readonly Placement[], note: string | null): Promise<WaveOutcome> {
    const { recorder, controls, socketPath, token } = this.#options;
    const scratchFolder = await this.#emptyFolderOfRanks(note !== null);
    if (this.#isAborted) return { kind: 'aborted' };
    recorder.setRanks(placements.map(({ rank }) => rank));
    this.#wave = new Wave({
      placements,
      launch: this.#launch(scratchFolder),
      socketPath,
      token,
      openLog: (rank) => openLog(recorder, rank, note),
      listener: {
        message: (handle, message, arrays) => keepMessage(recorder, handle, message, arrays),
        exited: ({ rank, epoch, step, pid }) =>
          recorder.update({ type: 'worker', rank, state: 'exited', epoch, step, pid }),
        beforeStart: async () => {
          await this.#checkDisk();
          await this.#options.begin();
        },
      },
    });
    controls.enter(this.#wave);
    return this.#wave.outcome();
  }

  #mayRestart(outcome: WaveOutcome): outcome is WaveOutcome & { kind: 'failed' } {
    const { restarts } = this.#options.recorder.record.config;
    return outcome.kind === 'failed' && outcome.isProcessLost && !this.#isAborted && this.#restarts < restarts;
  }

  /** @returns a description of the restart, for the logs */
  async #prepareRestart(placements: readonly Placement[], { message, ...lost }: RunError): Promise<string> {
    const { recorder } = this.#options;
    const { restarts } = recorder.record.config;
    this.#restarts += 1;
    this.#resume = true;
    await this.#options.begin();
    recorder.event(lost.rank, 'lost', message, { epoch: lost.epoch, step: lost.step });
    const point = await findResumePoint(
      recorder.folder,
      placements.map(({ rank }) => rank),
    );
    // Members of different waves are at different steps, so their rows are merged by key instead of cut off.
    const start = { epoch: point?.epoch ?? 0, step: point?.step ?? 0 };
    const from = this.#waves.length > 1 ? null : start;
    await recorder.nextAttempt(from);
    const how = point === null ? 'start again, because no state was saved yet' : `continue from step ${point.step}`;
    const note = `Restart ${this.#restarts} of ${restarts}: rank ${lost.rank} was lost; its wave's ranks ${how}.`;
    const data = { rank: lost.rank, ranks: placements.map(({ rank }) => rank) };
    recorder.event(null, 'restarted', note, { step: from?.step ?? null, data });
    return note;
  }

  /** The folder for files that ranks share. Later waves reuse them; a restart empties it, because a killed rank may have left parts. */
  async #emptyFolderOfRanks(isRestart: boolean): Promise<string> {
    const folder = join(this.#options.scratchFolder, 'ranks');
    if (isRestart) await rm(folder, { recursive: true });
    await mkdir(folder, { recursive: true });
    return folder;
  }

  #launch(scratchFolder: string): Omit<Launch, 'placement' | 'groupRanks'> {
    const { record, folder } = this.#options.recorder;
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
      resume: this.#resume,
    };
  }

  async #checkDisk(): Promise<void> {
    const { record, facts, folder } = this.#options.recorder;
    const { config } = record;
    const parameterCount = facts?.parameterCount ?? 0;
    await checkDiskSpace(folder, forecastRunBytes({ parameterCount, members: config.members, config }));
  }
}

function openLog(recorder: RunRecorder, rank: number, note: string | null): LogFile {
  const log = recorder.openLog(rank);
  if (note !== null) log.write(`(hub) ${note}`);
  return log;
}
