import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Blas } from '../../core/protocol/machine/blas.ts';
import type { Placement } from '../../core/protocol/machine/devices.ts';
import { mergeConfig, type PlainObject } from '../../core/options/index.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import type { ControlRequest } from '../../core/protocol/pages/remote-control.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { blasOfResumed, chooseBlas } from '../backends/choose-blas.ts';
import { backendOn, usableKinds } from '../processes/native-build.ts';
import { type Detected, detectDevices, planPlacement, selectDevices } from '../devices/index.ts';
import { type ExportOptions, type ExportReport, exportRun } from '../export/export-run.ts';
import { withNext } from '../runs/attempt/attempts.ts';
import { describeProject } from '../runs/configuration/describe-project.ts';
import { refuseCombinations } from '../runs/configuration/combinations.ts';
import { hashProjectSource } from '../runs/configuration/project-source.ts';
import { changeConfig, resolveConfig } from '../runs/configuration/resolve-config.ts';
import { resumedRecord, whyNotResume } from '../runs/attempt/resume-run.ts';
import { controlRun } from '../runs/control/remote-control.ts';
import type { RunListener } from '../runs/recording/run-recorder.ts';
import { RunSession } from '../runs/attempt/run-session.ts';
import { homePaths } from '../store/home.ts';
import type { IndexedRun, RunQuery } from '../store/index/indexed-run.ts';
import { recoverRuns, takeOverRun } from '../store/runs/recovery.ts';
import { findResumePoint } from '../store/runs/resume-point.ts';
import { createRunFolder, readRunRecord } from '../store/runs/run-folder.ts';
import { RunIndex } from '../store/index/run-index.ts';

export interface TrainRequest {
  projectFolder: string;
  /** Later layers win: a configuration file, then flags. */
  overrides: readonly PlainObject[];
  name?: string | undefined;
  /** The run's folder; by default a new one in Tutti's home. */
  folder?: string | undefined;
}

/** A run as it would be: checked, placed on devices, and not yet begun. */
export interface PlannedRun {
  project: ProjectDescription;
  projectFolder: string;
  config: RunConfig;
  /** What was asked for on top of the project's defaults. */
  overrides: PlainObject;
  plan: Placement[];
  blas: Blas | null;
  folder: string;
  name: string;
  id: string;
}

/** The one place that knows all parts of the main process; every door (terminal, desktop, server) calls it. */
export class Hub {
  readonly index: RunIndex;
  /** What was noticed while opening: runs found abandoned, folders that could not be read. */
  readonly notices: string[];

  private constructor(index: RunIndex, notices: string[]) {
    this.index = index;
    this.notices = notices;
  }

  /** Opens Tutti's home. Runs that a dead hub left behind are marked interrupted. */
  static async open(): Promise<Hub> {
    const index = await RunIndex.open();
    const { interrupted, problems } = await recoverRuns(index);
    return new Hub(index, [
      ...interrupted.map(
        ({ id }) => `Run ${id} was interrupted: its process is gone. \`tutti resume ${id}\` goes on with it.`,
      ),
      ...problems.map(({ folder, message }) => `${folder}: ${message}`),
    ]);
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

  /** @throws when the configuration is not valid, cannot be combined, or names devices or a BLAS that do not exist */
  async planRun(request: TrainRequest, project: ProjectDescription): Promise<PlannedRun> {
    const wanted = resolveConfig(project, request.overrides);
    const plan = await placeMembers(wanted);
    const config = { ...wanted, backend: backendOn(plan[0].device, wanted.backend) };
    refuseCombinations(config, plan, project);
    const blas = await chooseBlas(config);
    const id = createRunId(basename(resolve(request.projectFolder)));
    return {
      project,
      projectFolder: resolve(request.projectFolder),
      config,
      overrides: request.overrides.reduce((merged, layer) => mergeConfig(merged, layer), {}),
      plan,
      blas,
      folder: resolve(request.folder ?? join(homePaths().runs, id)),
      name: request.name ?? project.name,
      id,
    };
  }

  /** A session that will make the planned run when it is run. */
  start(planned: PlannedRun, listener: RunListener): RunSession {
    const { folder } = planned;
    return new RunSession({
      folder,
      index: this.index,
      listener,
      resume: null,
      claim: async (hub) => {
        const record = { ...(await newRecord(planned)), hub };
        await createRunFolder(folder, record);
        return { record, before: null };
      },
    });
  }

  /**
   * A session that goes on with a run from the newest state that all its ranks hold.
   * @param override what to change of its configuration, `maxEpochs` for instance
   * @throws NothingLeftError for a finished run that would train nothing
   */
  async resume(run: string, override: PlainObject, listener: RunListener): Promise<RunSession> {
    const { folder } = await this.find(run);
    const before = await readRunRecord(folder);
    const config = changeConfig(before.config, override);
    const plan = await placeMembers(config);
    // Its loss was looked at when the run was made.
    refuseCombinations(config, plan, { task: before.task, hasOwnLoss: false });
    const waves = new Set(plan.map(({ wave }) => wave)).size;
    const point = await findResumePoint(
      folder,
      plan.map(({ rank }) => rank),
    );
    const reason = whyNotResume(before, config, point);
    if (reason !== null) throw reason;
    const blas = await blasOfResumed(before, config);
    const source = await sourceOf(before.project.folder);
    const claim = async (hub: NonNullable<RunRecord['hub']>) => {
      let replaced = before;
      const record = await takeOverRun(folder, (found) => {
        replaced = found;
        return { ...resumedRecord(found, override, { config, plan, blas, ...source }), hub };
      });
      return { record, before: replaced };
    };
    // Members of different waves stand at different steps: their rows are merged by key instead of cut off.
    const from = waves > 1 ? null : { epoch: point?.epoch ?? 0, step: point?.step ?? 0 };
    return new RunSession({ folder, index: this.index, listener, claim, resume: { from } });
  }

  runs(query: RunQuery): IndexedRun[] {
    return this.index.list(query);
  }

  /** A run by id, a part of it, its name or its folder. */
  find(run: string): Promise<IndexedRun> {
    return this.index.find(run);
  }

  /** What a run's folder says of it now. */
  async record(run: string): Promise<RunRecord> {
    const { folder } = await this.find(run);
    return readRunRecord(folder);
  }

  /** Asks the process that trains a run, be it another one. @throws Error that says why it cannot be */
  async control(run: string, request: ControlRequest): Promise<void> {
    await controlRun(await this.record(run), request);
  }

  async export(run: string, options: ExportOptions): Promise<ExportReport> {
    const { folder } = await this.find(run);
    return exportRun(folder, options);
  }
}

/** Which rank runs where and when. @throws when the configuration names devices that do not exist */
export async function placeMembers(config: RunConfig): Promise<Placement[]> {
  const loadWindowMs = config.devices === 'idle' ? 200 : 0;
  const kinds = usableKinds(config.backend);
  const { devices, notes } = await detectDevices({ coreLoadWindowMs: loadWindowMs });
  if (!devices.some(({ kind }) => kinds.includes(kind))) {
    throw new Error([`The backend ${config.backend} finds no device that it computes on.`, ...notes].join(' '));
  }
  const selected = selectDevices(config.devices, devices, kinds);
  const { members, placement, membersPerDevice } = config;
  return planPlacement({ members, devices: selected, placement, membersPerDevice });
}

/** `20261121-081502-joint-early-stopping-3fa9`: sorts by time, and no two are alike. */
function createRunId(project: string): string {
  const time = new Date().toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const slug = project.replace(/[^a-zA-Z0-9]+/g, '-').toLowerCase();
  return `${time}-${slug}-${randomBytes(2).toString('hex')}`;
}

async function newRecord(planned: PlannedRun): Promise<RunRecord> {
  const { id, name, project, projectFolder, config, overrides, plan, blas } = planned;
  const createdAt = new Date().toISOString();
  const source = await sourceOf(projectFolder);
  return {
    format: 1,
    id,
    name,
    project: { name: project.name, description: project.description, folder: projectFolder },
    task: project.task,
    config,
    status: 'created',
    createdAt,
    endedAt: null,
    plan,
    seeds: plan.map(({ rank }) => (config.identicalSeeds ? config.seed : (config.seed + rank) >>> 0)),
    blas,
    versions: { node: process.versions.node },
    gitCommit: source.gitCommit,
    attempts: withNext([], { kind: 'start', overrides, config, ...source }),
    hub: null,
    error: null,
    summary: null,
  };
}

/** What of a project's source a record keeps. */
async function sourceOf(folder: string): Promise<{ sourceHash: string | null; gitCommit: string | null }> {
  return { sourceHash: await hashProjectSource(folder), gitCommit: await gitCommit(folder) };
}

/** The commit that the project is at, for the record; null outside a repository, and where there is no git. */
async function gitCommit(folder: string): Promise<string | null> {
  if (!existsSync(folder)) return null;
  try {
    const { stdout } = await promisify(execFile)('git', ['-C', folder, 'rev-parse', 'HEAD'], { timeout: 2000 });
    return stdout.trim();
  } catch {
    return null;
  }
}
