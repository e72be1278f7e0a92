import { adviseBlas } from '../../backends/choose-blas.ts';
import { sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Device, Placement } from '../../../core/protocol/machine/devices.ts';
import type { RunError } from '../../../core/protocol/run/record.ts';
import { checkDiskSpace, forecastRunBytes, replacedBytes } from '../../store/disk-space.ts';
import type { Grant } from '../../processes/confined.ts';
import { describeGrant, grantFor } from '../../trust/grant.ts';
import { codeOfRun } from '../configuration/kept-code.ts';
import { allowedPermissions } from '../../trust/project-trust.ts';
import { findResumePoint, type ResumePoint } from '../../store/runs/resume-point.ts';
import { makeWorkerFolders, workerFolders } from '../../store/runs/run-folder.ts';
import type { LogFile } from '../recording/log-file.ts';
import { chooseMpi, enterMpi, type MpiChoice } from './choose-mpi.ts';
import type { Completion } from './completion.ts';
import { keepMessage } from './rank-messages.ts';
import type { RunControls } from '../control/run-controls.ts';
import type { ResumeStart, RunRecorder } from '../recording/run-recorder.ts';
import { lostRanksOf } from '../../../core/protocol/run/lost-members.ts';
import { type Restart, Restarts } from './restarts.ts';
import { refuseWithoutState } from '../fork/fork-points.ts';
import type { RemoteChild } from '../../nodes/remote-child.ts';
import type { TaskServer } from '../../nodes/task-server.ts';
import { nameLostNodes, placeOnNodes } from './place-on-nodes.ts';
import { foldersOfRanks, type RankFolders } from '../workers/scratch.ts';
import { resumeStartOf } from './resume-start.ts';
import { launchOf, statesAt, warmStartsOf } from './wave-launch.ts';
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
  /**
   * Called each time that all ranks of a wave are ready, before they train, with the position at which they continue.
   */
  begin(from: ResumeStart): Promise<void>;
}

/** How a wave starts. */
interface WaveStart {
  /** First line for the logs of its ranks, after a loss; else null. */
  note: string | null;
  /** Whether it is the run's first wave. */
  isFirst: boolean;
}

/**
 * Runs the waves of a run, one after the other. A wave that loses a process restarts from the newest state that all its
 * ranks have saved (or from its start if there is none), as often as the run's policy allows.
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
    const { recorder, controls, socketPath, token, host, tasks, completion } = this.#options;
    const folders = await this.#folders(note !== null || isFirst);
    await recorder.whenThereIsRoom(() => makeWorkerFolders(recorder.folder));
    const mayUseNetwork = (): boolean => allowedPermissions(recorder.record.project.folder).network;
    this.#mpi = chooseMpi(recorder.record, placements, tasks?.mpi ?? null, mayUseNetwork);
    const { sourceFolder } = await codeOfRun(recorder.folder, recorder.record);
    // It trains by itself after a loss: whatever ended the process does not end that of others again.
    const shared = note === null ? await this.#sharedProcess(placements, folders) : null;
    if (this.#aborted.signal.aborted) return { kind: 'aborted' };
    recorder.setRanks(placements.map(({ rank }) => rank));
    this.#wave = new Wave({
      placements,
      launch: {
        ...launchOf(recorder, placements, completion),
        ...folders,
        sourceFolder,
        resumeFrom: statesAt(point, recorder.record),
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
        await this.#options.begin(await this.#from(point));
        this.#reportDamages(point);
        this.#reportGrant(placements[0].device, folders);
        if (isFirstStart) await this.#adviseBlas();
      },
    };
  }

  async #adviseBlas(): Promise<void> {
    const { recorder } = this.#options;
    const advice = await adviseBlas(recorder.record, recorder.facts);
    if (advice !== null) recorder.event(null, 'blas-absent', advice);
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

  /**
   * What a worker gets, beside what all processes of the project get: it writes its part of the run and the ranks'
   * scratch folder. One that stays for the next runs of its host writes all of these, because it cannot be granted more
   * later.
   */
  #grantOn(device: Device, { scratchFolder, overflowFolder }: RankFolders): Grant {
    const { recorder, host } = this.#options;
    const { folder, record } = recorder;
    const { project, config } = record;
    const ofRuns = host === null ? workerFolders(folder) : [host.runs];
    const write = [...ofRuns, scratchFolder, ...(overflowFolder === null ? [] : [overflowFolder])];
    const { memoryLimitBytes } = config;
    // A process that stays may read all runs of its host anyway.
    const ofOthers = warmStartsOf(config).filter((path) => host === null || !path.startsWith(host.runs + sep));
    const read = host === null ? [folder, ...ofOthers] : ofOthers;
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

  /** Lists in the run's events what its workers may do, and who enforces it. */
  #reportGrant(device: Device, folders: RankFolders): void {
    const phrases = describeGrant(this.#grantOn(device, folders));
    const enforcement = this.#wave?.enforcement() ?? [];
    this.#options.recorder.event(null, 'granted', [`Each worker ${phrases.join('; ')}.`, ...enforcement].join(' '));
  }

  /** @returns a description of the restart, for the logs */
  async #prepareRestart(
    { count, maxRestarts, waitMs }: Restart,
    point: ResumePoint | null,
    ranks: readonly number[],
    { message, ...lost }: RunError,
  ): Promise<string> {
    const { recorder } = this.#options;
    const from = await this.#from(point);
    await this.#options.begin(from);
    recorder.event(lost.rank, 'lost', message, { epoch: lost.epoch, step: lost.step });
    await recorder.nextAttempt(from);
    const how = point === null ? 'start again, because no state was saved yet' : `continue from step ${point.step}`;
    const after = waitMs === 0 ? '' : ` after ${waitMs / 1000} s`;
    const note = `Restart ${count} of ${maxRestarts}: rank ${lost.rank} was lost; its wave's ranks ${how}${after}.`;
    recorder.event(null, 'restarted', note, { step: from.at?.step ?? null, data: { rank: lost.rank, ranks } });
    return note;
  }

  #from(point: ResumePoint | null): Promise<ResumeStart> {
    const { recorder, completion, resume } = this.#options;
    return resumeStartOf({ recorder, completion, resume, waves: this.#waves }, point);
  }

  /** The folders for files that ranks share. @param isFresh whether what lies in them belongs to others */
  async #folders(isFresh: boolean): Promise<RankFolders> {
    const { tasks, host } = this.#options;
    if (isFresh) tasks?.emptyFolders();
    return foldersOfRanks(host?.scratch ?? this.#options, isFresh);
  }

  #reportDamages(point: ResumePoint | null): void {
    if (point === null || point.damages.length === 0) return;
    const { round, epoch, step, damages } = point;
    const message =
      `The ranks continue from the older round ${round}, step ${step}, because newer states are damaged: ` +
      `${damages.join('; ')}.`;
    this.#options.recorder.event(null, 'state-skipped', message, { epoch, step, data: { round } });
  }

  /**
   * A new run is refused without room for its largest size. One that has begun waits for room, as it does while it
   * trains.
   */
  async #checkDisk(isFirstStart: boolean): Promise<void> {
    const { recorder, resume } = this.#options;
    const { record, facts, folder } = recorder;
    const { config } = record;
    const parameterCount = facts?.parameterCount ?? 0;
    const wholeBytes = forecastRunBytes({ parameterCount, config });
    if (isFirstStart && !resume) return checkDiskSpace(folder, wholeBytes);
    await recorder.whenThereIsRoom(async () => checkDiskSpace(folder, wholeBytes - (await replacedBytes(folder))));
  }
}

function openLog(recorder: RunRecorder, rank: number, note: string | null): LogFile {
  const log = recorder.openLog(rank);
  if (note !== null) log.note(note);
  return log;
}
