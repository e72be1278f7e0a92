import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Device, Placement } from '../../../core/protocol/machine/devices.ts';
import type { Launch } from '../../../core/protocol/run/messages.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { RunError } from '../../../core/protocol/run/record.ts';
import { checkDiskSpace, forecastRunBytes, replacedBytes } from '../../store/disk-space.ts';
import type { Grant } from '../../processes/confined.ts';
import { describeGrant, grantFor } from '../../trust/grant.ts';
import { codeOfRun } from '../configuration/kept-code.ts';
import { allowedPermissions, requireTrust } from '../../trust/project-trust.ts';
import { dataFolders } from '../../store/home.ts';
import { findResumePoint, type ResumePoint } from '../../store/runs/resume-point.ts';
import { runPaths } from '../../store/runs/run-folder.ts';
import type { LogFile } from '../recording/log-file.ts';
import { chooseMpi, enterMpi, type MpiChoice } from './choose-mpi.ts';
import type { Completion } from './completion.ts';
import { keepMessage } from './rank-messages.ts';
import { currentSettings, type RunControls } from '../control/run-controls.ts';
import type { ResumeStart, RunRecorder } from '../recording/run-recorder.ts';
import { lostRanksOf } from '../../../core/protocol/run/lost-members.ts';
import { plannedConfig } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { type Restart, Restarts } from './restarts.ts';
import { forkedAt, refuseWithoutState, startOfRun } from '../fork/fork-start.ts';
import type { RemoteChild } from '../../nodes/remote/remote-child.ts';
import type { TaskServer } from '../../nodes/task-server.ts';
import { nameLostNodes, placeOnNodes } from './place-on-nodes.ts';
import type { WorkerHost } from '../workers/worker-host.ts';
import type { SharedProcess, WorkerSeat } from '../workers/shared-workers.ts';
import { type Hello, Wave, type WaveListener, type WaveOutcome } from './wave.ts';

export interface WaveSequenceOptions {
  recorder: RunRecorder;
  controls: RunControls;
  /** Owner-only; removed at the end of the session. */
  scratchFolder: string;
  /** The same on a disk, for what does not fit into one in memory; null: none. */
  overflowFolder: string | null;
  socketPath: string;
  /** The token that workers send with their hello. */
  token: string;
  /** Whether the ranks of each wave continue from their newest common state. */
  resume: boolean;
  /** Keeps worker processes for the next run; null: they end with this one. */
  host: WorkerHost | null;
  /** Missing members that train alone; null: all ranks that are not missing train. */
  completion: Completion | null;
  /** Where its ranks train in one process with those of other runs; null: its processes train no other run. */
  seat: WorkerSeat | null;
  /** The tasks of a launch on several nodes; null: all workers run on this machine. */
  tasks: TaskServer | null;
  /** Called each time that all ranks of a wave are ready, before they train, with the position at which they continue. */
  begin(from: ResumeStart): Promise<void>;
}

/** How a wave starts. */
interface WaveStart {
  /** First line for the logs of its ranks, after a loss; else null. */
  note: string | null;
  /** Whether it is the run's first wave. */
  isFirst: boolean;
}

/** Folders that the ranks of a run may write. */
type RankFolders = Pick<Launch, 'scratchFolder' | 'overflowFolder'>;

/**
 * Runs the waves of a run, one after the other. A wave that loses a process restarts from the newest state that all its ranks have saved
 * (or from its start if there is none), as often as the run's policy allows.
 */
export class WaveSequence {
  readonly #options: WaveSequenceOptions;
  readonly #waves: Placement[][];
  #wave: Wave | null = null;
  readonly #aborted = new AbortController();
  #mpi: MpiChoice = { isChosen: false, reason: null };

  constructor(options: WaveSequenceOptions) {
    this.#options = options;
    const { plan } = options.recorder.record;
    const missing = lostRanksOf(options.recorder.record);
    const trains = ({ rank }: Placement): boolean =>
      options.completion?.ranks.includes(rank) ?? !missing.includes(rank);
    this.#waves = [...Map.groupBy(plan.filter(trains), ({ wave }) => wave).values()];
  }

  async run(): Promise<WaveOutcome> {
    let outcome: WaveOutcome = { kind: 'aborted' };
    for (const placements of this.#waves) {
      outcome = await this.#runRestarting(placements);
      if (outcome.kind !== 'finished' || outcome.stopReason === 'requested') return outcome;
    }
    return outcome;
  }

  /** Takes the connection of a worker that has sent its hello. */
  accept(hello: Hello, channel: Channel): void {
    if (this.#wave === null) channel.close();
    else this.#wave.accept(hello, channel);
  }

  /** Takes an event of the hub that begins or ends a wait for space on the disk. */
  follow(event: { kind: string; rank: null; message: string }): void {
    this.#wave?.follow(event);
  }

  /** Kills all workers immediately and starts no more. */
  abort(): void {
    this.#aborted.abort();
    this.#wave?.abort();
  }

  /** Runs a wave, again after a lost process as long as the policy allows. */
  async #runRestarting(placements: readonly Placement[]): Promise<WaveOutcome> {
    const { recorder } = this.#options;
    const ranks = placements.map(({ rank }) => rank);
    const restarts = new Restarts(recorder.record.config.onMemberLoss);
    let point = this.#options.resume ? await findResumePoint(recorder.folder, ranks) : null;
    if (point === null) refuseWithoutState(recorder.record);
    const isFirst = placements === this.#waves[0];
    let present = await this.#placeNow(placements);
    let outcome = await this.#runWave(present, point, { note: null, isFirst });
    while (outcome.kind === 'failed' && outcome.isProcessLost && !this.#aborted.signal.aborted) {
      point = await findResumePoint(recorder.folder, ranks);
      const restart = restarts.next(point?.round ?? null);
      if (restart === null) return outcome;
      const note = await this.#prepareRestart(restart, point, ranks, outcome.error);
      await this.#wait(restart.waitMs);
      present = await this.#placeNow(present);
      outcome = await this.#runWave(present, point, { note, isFirst });
    }
    return outcome;
  }

  async #placeNow(wave: readonly Placement[]): Promise<readonly Placement[]> {
    const { tasks, recorder } = this.#options;
    return tasks === null ? wave : await placeOnNodes(wave, tasks, recorder, this.#aborted.signal);
  }

  /** An abort ends the wait. */
  async #wait(ms: number): Promise<void> {
    if (ms === 0) return;
    const { signal } = this.#aborted;
    await wait(ms, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  async #runWave(
    placements: readonly Placement[],
    point: ResumePoint | null,
    { note, isFirst }: WaveStart,
  ): Promise<WaveOutcome> {
    const { recorder, controls, socketPath, token, host, tasks } = this.#options;
    const folders = await this.#emptyFoldersOfRanks(note !== null || isFirst);
    const mayUseNetwork = (): boolean => allowedPermissions(recorder.record.project.folder).network;
    this.#mpi = chooseMpi(recorder.record, placements, tasks?.mpi ?? null, mayUseNetwork);
    const { sourceFolder } = await codeOfRun(recorder.folder, recorder.record);
    // After a loss it trains by itself: whatever ended the process does not end that of others again.
    const shared = note === null ? await this.#sharedProcess(placements, folders) : null;
    if (this.#aborted.signal.aborted) return { kind: 'aborted' };
    recorder.setRanks(placements.map(({ rank }) => rank));
    this.#wave = new Wave({
      placements,
      launch: {
        ...this.#launch(folders, placements),
        sourceFolder,
        resumeFrom:
          point === null ? null : { round: point.round, worldSize: point.worldSize ?? recorder.record.config.members },
        mpiProcesses: enterMpi(this.#mpi, placements, tasks, recorder),
      },
      socketPath,
      token,
      host,
      grantOn: (device) => this.#grantOn(device, folders),
      foldersOf: (device) => tasks?.foldersOf(device, folders) ?? folders,
      startElsewhere: (of) => this.#startElsewhere(of, placements, folders),
      openLog: (rank) => openLog(recorder, rank, note),
      shared,
      listener: this.#listener(placements, point, folders, note === null && isFirst),
    });
    controls.enter(this.#wave);
    const outcome = await this.#wave.outcome();
    return tasks === null ? outcome : nameLostNodes(outcome, placements, tasks);
  }

  /** @param isFirstStart whether nothing of the run has trained in this session */
  #listener(
    placements: readonly Placement[],
    point: ResumePoint | null,
    folders: RankFolders,
    isFirstStart: boolean,
  ): WaveListener {
    const { recorder } = this.#options;
    return {
      message: (handle, message, arrays) => keepMessage(recorder, handle, message, arrays),
      dropped: ({ rank, epoch, step }, how, message) =>
        recorder.lostMember({ rank, attempt: recorder.record.attempts.length, epoch, step, how }, message),
      slow: ({ rank, epoch, step }, how) => recorder.event(rank, 'rank-slow', `Rank ${rank} ${how}.`, { epoch, step }),
      back: ({ rank, epoch, step }) => recorder.event(rank, 'rank-back', `Rank ${rank} is back.`, { epoch, step }),
      exited: ({ rank, epoch, step, pid }) =>
        recorder.update({ type: 'worker', rank, state: 'exited', epoch, step, pid }),
      beforeStart: async () => {
        await this.#checkDisk(isFirstStart);
        await this.#options.begin(await this.#startOf(point));
        this.#reportDamages(point);
        this.#reportGrant(placements[0].device, folders);
      },
    };
  }

  /** The wave's part of a process that other runs share; null where its processes train no other run. */
  async #sharedProcess(placements: readonly Placement[], folders: RankFolders): Promise<SharedProcess | null> {
    const { seat, socketPath, token } = this.#options;
    if (seat === null) return null;
    const [{ device, stack }] = placements;
    if (stack === undefined || placements.some((other) => other.stack !== stack)) {
      seat.leave();
      return null;
    }
    const grant = this.#grantOn(device, folders);
    return seat.ask({ placements, socketPath, token, grant }, this.#aborted.signal);
  }

  /** What a worker gets: its run's folder and the ranks' scratch folder, beside what all processes of the project get. */
  #grantOn(device: Device, { scratchFolder, overflowFolder }: RankFolders): Grant {
    const { recorder, host } = this.#options;
    const { folder, record } = recorder;
    const { project, config } = record;
    const write = [host?.runs ?? folder, scratchFolder, ...(overflowFolder === null ? [] : [overflowFolder])];
    const { memoryLimitBytes } = config;
    // A process that stays may read all runs of its host anyway.
    const read = warmStartsOf(config).filter((path) => host === null || !path.startsWith(host.runs + sep));
    const usesMpi = this.#mpi.isChosen;
    return grantFor({ project: project.folder, read, write, memoryLimitBytes, device, usesMpi });
  }

  /** The worker of a device of another task; null where this process starts it. */
  #startElsewhere(of: readonly Placement[], wave: readonly Placement[], own: RankFolders): RemoteChild | null {
    const { folder, record } = this.#options.recorder;
    const { project, config } = record;
    const start = {
      placements: [...of],
      wave: wave.filter(({ device }) => device.node?.name === of[0].device.node?.name),
      project: project.folder,
      runFolder: folder,
      read: warmStartsOf(config),
      memoryLimitBytes: config.memoryLimitBytes,
      usesMpi: this.#mpi.isChosen,
    };
    return this.#options.tasks?.child(start, own) ?? null;
  }

  /** Lists in the run's events what its workers may do. */
  #reportGrant(device: Device, folders: RankFolders): void {
    const phrases = describeGrant(this.#grantOn(device, folders));
    this.#options.recorder.event(null, 'granted', `Each worker ${phrases.join('; ')}.`);
  }

  /** @returns a description of the restart, for the logs */
  async #prepareRestart(
    { count, maxRestarts, waitMs }: Restart,
    point: ResumePoint | null,
    ranks: readonly number[],
    { message, ...lost }: RunError,
  ): Promise<string> {
    const { recorder } = this.#options;
    const from = await this.#startOf(point);
    await this.#options.begin(from);
    recorder.event(lost.rank, 'lost', message, { epoch: lost.epoch, step: lost.step });
    await recorder.nextAttempt(from);
    const how = point === null ? 'start again, because no state was saved yet' : `continue from step ${point.step}`;
    const after = waitMs === 0 ? '' : ` after ${waitMs / 1000} s`;
    const note = `Restart ${count} of ${maxRestarts}: rank ${lost.rank} was lost; its wave's ranks ${how}${after}.`;
    recorder.event(null, 'restarted', note, { step: from.at?.step ?? null, data: { rank: lost.rank, ranks } });
    return note;
  }

  /** Members of different waves, or a missing one, are at different steps, so their rows are merged by key instead of cut off. */
  async #startOf(point: ResumePoint | null): Promise<ResumeStart> {
    if (this.#options.completion !== null) return { at: null, rows: null };
    if (this.#waves.length > 1) return { at: null, rows: await this.#rowsBeforeStop() };
    const { epoch, step } = point ?? startOfRun(this.#options.recorder.record);
    return { at: { epoch, step }, rows: this.#rowsOf(point) };
  }

  /** Rows before the last evaluation of the stop that ended the attempt before; null where it ended otherwise. */
  #rowsOf(point: ResumePoint | null): number | null {
    const { attempts } = this.#options.recorder.record;
    // Rows that attempts between the state's and this one added are no part of the count.
    const isRecent = point?.attempt !== undefined && point.attempt >= attempts.length - 1;
    return isRecent ? point.metricRows : null;
  }

  /** The same for the wave that was stopped. */
  async #rowsBeforeStop(): Promise<number | null> {
    if (!this.#options.resume) return null;
    const { folder } = this.#options.recorder;
    const points = await Promise.all(
      this.#waves.map((wave) =>
        findResumePoint(
          folder,
          wave.map(({ rank }) => rank),
        ),
      ),
    );
    return points.map((point) => this.#rowsOf(point)).find((rows) => rows !== null) ?? null;
  }

  #reportDamages(point: ResumePoint | null): void {
    if (point === null || point.damages.length === 0) return;
    const { round, epoch, step, damages } = point;
    const message = `The ranks continue from the older round ${round}, step ${step}, because newer states are damaged: ${damages.join('; ')}.`;
    this.#options.recorder.event(null, 'state-skipped', message, { epoch, step, data: { round } });
  }

  /**
   * The folders for files that ranks share. Later waves reuse them. They are emptied for a run's first wave, because a host's folders served other runs, and
   * for a restart, because a killed rank may have left parts. The folder itself stays: processes were granted this one.
   */
  async #emptyFoldersOfRanks(isFresh: boolean): Promise<RankFolders> {
    if (isFresh) this.#options.tasks?.emptyFolders();
    const { scratchFolder, overflowFolder } = this.#options.host?.scratch ?? this.#options;
    const empty = async (parent: string): Promise<string> => {
      const folder = join(parent, 'ranks');
      await mkdir(folder, { recursive: true });
      const left = isFresh ? await readdir(folder) : [];
      for (const name of left) await rm(join(folder, name), { recursive: true });
      return folder;
    };
    return {
      scratchFolder: await empty(scratchFolder),
      overflowFolder: overflowFolder === null ? null : await empty(overflowFolder),
    };
  }

  #launch(
    folders: RankFolders,
    placements: readonly Placement[],
  ): Omit<Launch, 'placement' | 'groupRanks' | 'nodeRanks' | 'resumeFrom' | 'sourceFolder' | 'mpiProcesses'> {
    const { record, folder } = this.#options.recorder;
    const { completion } = this.#options;
    const [{ wave }] = placements;
    const lostRanks = lostRanksOf(record).filter((lost) => placements.every(({ rank }) => rank !== lost));
    const hasFinished = (placement: Placement): boolean =>
      completion === null ? placement.wave < wave : !placements.includes(placement);
    const finished = record.plan.filter((placement) => hasFinished(placement) && !lostRanks.includes(placement.rank));
    return {
      runId: record.id,
      runFolder: folder,
      ...folders,
      projectFolder: requireTrust(record.project.folder),
      dataFolders: dataFolders(),
      finishedRanks: finished.map(({ rank }) => rank),
      lostRanks,
      isInWaves: new Set(record.plan.map((placement) => placement.wave)).size > 1,
      until: completion === null ? null : positionOf(completion.until),
      config: plannedConfig(record),
      blas: record.blas,
      settings: currentSettings(record),
      attempt: record.attempts.length,
      forkedAt: forkedAt(record),
      labels: record.labels?.sha256 ?? null,
    };
  }

  /** A new run is refused without room for its largest size. One that has begun waits for room, as it does while it trains. */
  async #checkDisk(isFirstStart: boolean): Promise<void> {
    const { recorder, resume } = this.#options;
    const { record, facts, folder } = recorder;
    const { config } = record;
    const parameterCount = facts?.parameterCount ?? 0;
    const wholeBytes = forecastRunBytes({ parameterCount, members: config.members, config });
    if (isFirstStart && !resume) return checkDiskSpace(folder, wholeBytes);
    const { checkpoints, state } = runPaths(folder);
    await recorder.whenThereIsRoom(async () =>
      checkDiskSpace(folder, wholeBytes - (await replacedBytes([checkpoints, state]))),
    );
  }
}

function positionOf({ round, epoch, step }: ResumePoint): Launch['until'] {
  return { round, epoch, step };
}

/** The checkpoints of another run that the ranks start from. Only checkpoints: a record of others could name any file. */
function warmStartsOf({ warmStart: { checkpoint }, members }: RunConfig): string[] {
  if (!checkpoint.endsWith('.safetensors')) return [];
  const paths = Array.from({ length: members }, (_, rank) => resolve(checkpoint.replaceAll('{rank}', String(rank))));
  return [...new Set(paths)];
}

function openLog(recorder: RunRecorder, rank: number, note: string | null): LogFile {
  const log = recorder.openLog(rank);
  if (note !== null) log.note(note);
  return log;
}
