import type { PlainObject } from '../../core/options/index.ts';
import type { ControlRequest } from '../../core/protocol/run/control-state.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import { lostRanksOf } from '../../core/protocol/run/lost-members.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { blasOfResumed } from '../backends/choose-blas.ts';
import type { Detected } from '../../core/protocol/machine/devices.ts';
import { detectDevices } from '../devices/detect.ts';
import { type ExportOptions, type ExportReport, exportRun } from '../export/export-run.ts';
import type { ForkChoice, ForkPoint } from '../../core/protocol/history/history.ts';
import { type ImportedRun, type ImportOptions, importRun } from '../import/import-run.ts';
import { copyForFork } from '../runs/fork/copy-run.ts';
import { readForkPoints } from '../runs/fork/fork-points.ts';
import { type ForkBasis, readForkBasis } from './fork-basis.ts';
import { type ForkRequest, planFork, type PlannedFork } from './fork-run.ts';
import { planCompletion } from '../runs/attempt/completion.ts';
import { resumedRecord, whyNotResume } from '../runs/attempt/resume-run.ts';
import { RunSession } from '../runs/attempt/run-session.ts';
import { withOwnModes } from '../runs/configuration/metric-combinations.ts';
import { refuseCombinations } from '../runs/configuration/combinations.ts';
import { describeProject } from '../runs/configuration/project.ts';
import { changeConfig } from '../runs/configuration/resolve-config.ts';
import { controlRun } from '../runs/control/remote-control.ts';
import type { TaskServer } from '../nodes/task-server.ts';
import type { WorkerSeat } from '../runs/workers/shared-workers.ts';
import type { RunListener } from '../runs/recording/run-recorder.ts';
import type { RunRow } from '../../core/protocol/pages/run-list.ts';
import type { IndexQuery } from '../store/index/run-query.ts';
import { RunIndex } from '../store/index/run-index.ts';
import { createOwnRun, isOpen, recoverRuns, type Recovery, takeOverRun } from '../store/index/recovery.ts';
import { removeHomeAsides, secureHome, takeHomeFindings } from '../store/private-home.ts';
import { tuttiHome } from '../store/home.ts';
import type { FolderProblem } from '../store/runs/known-folders.ts';
import { messageOf } from '../../core/text/errors.ts';
import { findResumePoint } from '../store/runs/resume-point.ts';
import { readRunRecord } from '../store/runs/run-folder.ts';
import { holdsState } from '../store/runs/saved-rounds.ts';
import { projectFolderOf, requireTrust } from '../trust/project-trust.ts';
import { keptOrigin, originOf } from './new-record.ts';
import { startRun } from './start-run.ts';
import { placeMembers, type PlannedRun, planRun, type TrainRequest } from './plan-run.ts';

export interface ResumeOptions {
  rank?: number | undefined;
  /**
   * Whether it trains with the project's present code also where that has changed since; by default with the run's own.
   */
  currentSource?: boolean | undefined;
  /** Where it shares a process with other runs; absent or null: it has its own. */
  seat?: WorkerSeat | null;
}

/** The interface of the main process that every front end (terminal, desktop, server) calls. */
export class Hub {
  readonly index: RunIndex;
  /** Messages from opening: abandoned runs, folders that could not be read, an index that cannot be written. */
  readonly notices: string[];
  /** The tasks of a launch on several nodes, on which runs are placed; null: runs train on this machine. */
  readonly tasks: TaskServer | null;
  /** Takes what reading many folders found; null: opening and searching wait for it. */
  readonly #onNotice: ((notice: string) => void) | null;

  private constructor(
    index: RunIndex,
    notices: string[],
    onNotice: ((notice: string) => void) | null,
    tasks: TaskServer | null,
  ) {
    this.index = index;
    this.tasks = tasks;
    this.notices = notices;
    this.#onNotice = onNotice;
  }

  /**
   * Opens Tutti's home, and marks runs whose hub has died as interrupted.
   * @param onNotice if given, opening does not wait until many new folders have been read; their problems go here
   * @param tasks of a launch on several nodes
   */
  static async open(onNotice: ((notice: string) => void) | null = null, tasks: TaskServer | null = null): Promise<Hub> {
    await secureHome();
    await removeHomeAsides();
    const index = await RunIndex.open(tuttiHome(), onNotice === null);
    const hub = new Hub(index, [], onNotice, tasks);
    const { interrupted, problems } = await hub.#recover();
    hub.notices.push(
      ...takeHomeFindings(),
      ...(index.notice === null ? [] : [index.notice]),
      ...interrupted.map(({ id }) => describeInterruption(id, index.list({ ids: [id] }))),
      ...problems.map(describeProblem),
    );
    return hub;
  }

  /** Finds runs that are new or gone, and marks abandoned ones. */
  async searchRuns(): Promise<void> {
    await this.#recover();
  }

  #recover(): Promise<Recovery> {
    const onNotice = this.#onNotice;
    if (onNotice === null) return recoverRuns(this.index);
    return recoverRuns(this.index, (reading) => {
      this.#afterReading(reading, onNotice).catch((error: unknown) => onNotice(messageOf(error)));
    });
  }

  async #afterReading(reading: Promise<FolderProblem[]>, onNotice: (notice: string) => void): Promise<void> {
    for (const problem of await reading) onNotice(describeProblem(problem));
    // Some of the runs that were read may be abandoned.
    if (this.index.isOpen) await this.searchRuns();
  }

  close(): void {
    this.index.close();
  }

  devices(): Promise<Detected> {
    return detectDevices({ coreLoadWindowMs: 200 });
  }

  describe(projectFolder: string): Promise<ProjectDescription> {
    return describeProject(projectFolder);
  }

  /** @throws as {@link planRun} does */
  planRun(request: TrainRequest, project: ProjectDescription): Promise<PlannedRun> {
    return planRun(request, project, this.tasks);
  }

  /** A session that creates the planned run when it is run. */
  start(planned: PlannedRun, listener: RunListener, seat: WorkerSeat | null = null): RunSession {
    return startRun(planned, this.index, listener, { seat, tasks: this.tasks });
  }

  /**
   * A session that resumes a run from the newest state that all its ranks have saved.
   * @param override changes to its configuration, for instance of `maxEpochs`
   * @param options what to resume
   * @param options.rank only this missing member, up to where the others ended; absent: all ranks that are not missing
   * @throws NothingLeftError if the run has finished and would not train further, UntrustedError if its project is not
   * trusted
   */
  async resume(
    run: string,
    override: PlainObject,
    listener: RunListener,
    { rank, currentSource = false, seat = null }: ResumeOptions = {},
  ): Promise<RunSession> {
    const { folder } = await this.find(run);
    const before = await readOwnRecord(folder);
    const config = withOwnModes(changeConfig(before.config, override), before);
    const plan = await placeMembers(config, this.tasks, before.workers);
    // The project's loss was checked when the run was created.
    refuseCombinations(config, plan, { task: before.task, hasOwnLoss: false, metrics: before.metrics });
    const completion = rank === undefined ? null : await planCompletion(folder, before, rank);
    if (completion !== null) refuseChanges(override);
    else if (before.status === 'finished') {
      const lost = lostRanksOf(before);
      const present = plan.flatMap((placement) => (lost.includes(placement.rank) ? [] : [placement.rank]));
      const reason = whyNotResume(before, config, await findResumePoint(folder, present));
      if (reason !== null) throw reason;
    }
    requireTrust(projectFolderOf(before));
    const blas = await blasOfResumed(before, config);
    const present = await originOf(before.project.folder, plan);
    const source = currentSource ? present : await keptOrigin(folder, before, present);
    const completes = completion === null ? {} : { completes: [...completion.ranks] };
    const claim = (hub: NonNullable<RunRecord['hub']>) =>
      takeOverRun(folder, (found) => ({
        ...resumedRecord(found, override, { config, plan, blas, ...source, ...completes }),
        hub,
      }));
    return new RunSession({
      folder,
      index: this.index,
      listener,
      claim,
      resume: true,
      completion,
      seat,
      tasks: this.tasks,
    });
  }

  /**
   * The points of a run at which a fork can begin.
   * @param onDamage called with the error of each state or checkpoint that cannot be read
   */
  async forkPoints(run: string, onDamage?: (damage: Error) => void): Promise<ForkPoint[]> {
    const { folder } = await this.find(run);
    const record = await readRunRecord(folder);
    // A run that trains replaces its files meanwhile.
    return readForkPoints(folder, record, isOpen(record) ? undefined : onDamage);
  }

  /** @throws as {@link readForkBasis} does */
  async forkBasis(run: string, choice: ForkChoice): Promise<ForkBasis> {
    return readForkBasis(await this.find(run), choice);
  }

  /** @throws as {@link planFork} does */
  async planFork(run: string, request: ForkRequest): Promise<PlannedFork> {
    return planFork(await this.find(run), request);
  }

  /** A session that creates the planned fork when it is run. The run that is forked stays unchanged. */
  fork({ source, point, record, folder, start }: PlannedFork, listener: RunListener): RunSession {
    return new RunSession({
      folder,
      index: this.index,
      listener,
      resume: true,
      start,
      claim: async (hub) => {
        const claimed = { ...record, hub };
        const lock = await createOwnRun(folder, claimed, () =>
          copyForFork(source, point, { folder, sourceHash: record.attempts[0].sourceHash }),
        );
        return { record: claimed, before: null, lock };
      },
    });
  }

  runs(query: IndexQuery): RunRow[] {
    return this.index.list(query);
  }

  /** Finds a run by its id, the beginning of its id or name, its name or its folder. */
  find(run: string): Promise<RunRow> {
    return this.index.find(run);
  }

  /** The current record of a run, from its folder. */
  async record(run: string): Promise<RunRecord> {
    const { folder } = await this.find(run);
    return readRunRecord(folder);
  }

  /**
   * Sends a request to the process that trains a run, which may be another one.
   * @throws Error with the reason for a refusal
   */
  async control(run: string, request: ControlRequest): Promise<void> {
    await controlRun(await this.record(run), request);
  }

  /** Makes an exported run a run of this home. @throws as {@link importRun} does */
  import(file: string, options: ImportOptions): Promise<ImportedRun> {
    return importRun(this.index, file, options);
  }

  async export(run: string, options: ExportOptions): Promise<ExportReport> {
    const { folder } = await this.find(run);
    return exportRun(folder, options);
  }
}

/** @throws Error for the copy of a run elsewhere */
async function readOwnRecord(folder: string): Promise<RunRecord> {
  const record = await readRunRecord(folder);
  const { id, remote } = record;
  if (remote === undefined) return record;
  throw new Error(`The run ${id} is a copy of one on ${remote.from}, in ${remote.folder}. Resume it there.`);
}

function describeProblem({ folder, message }: FolderProblem): string {
  return `${folder}: ${message}`;
}

/** Advises to resume only where something was saved. */
function describeInterruption(id: string, rows: readonly RunRow[]): string {
  const canResume = rows.some(({ folder }) => holdsState(folder));
  const advice = canResume ? `Resume it with \`tutti resume ${id}\`.` : 'It had saved no state yet.';
  return `Run ${id} was interrupted: its process is gone. ${advice}`;
}

/**
 * A completed member must have the bits that it would have had beside the others.
 * @throws Error if options are to change
 */
function refuseChanges(override: PlainObject): void {
  const [name] = Object.keys(override);
  if (name === undefined) return;
  throw new Error(
    `A missing member is completed with the options of its run, so ${name} cannot change. Omit it, or omit the rank.`,
  );
}
