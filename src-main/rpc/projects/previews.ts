import { isAbsolute, join } from 'node:path';
import { messageOf } from '../../../core/text/errors.ts';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { PlainObject } from '../../../core/options/index.ts';
import type { RunPreview, RunRequest } from '../../../core/protocol/pages/project-views.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { withChanges } from '../../../core/protocol/run/settings.ts';
import { backendOn } from '../../processes/native-build.ts';
import type { Hub } from '../../hub/hub.ts';
import { hasKeptOther } from '../../hub/new-record.ts';
import { adviseBlas } from '../../backends/choose-blas.ts';
import { foreseeWorkers } from '../../placement/choose-workers.ts';
import type { Workers } from '../../../core/protocol/run/workers.ts';
import { placeMembers } from '../../hub/plan-run.ts';
import { type Combined, findConflicts } from '../../runs/configuration/combinations.ts';
import { hashProjectSource } from '../../runs/configuration/project-source.ts';
import { checkChanges, checkConfig, type CheckedConfig, parseConfig } from '../../runs/configuration/resolve-config.ts';
import { factsOf } from '../../../core/protocol/pages/run-updates.ts';
import { readFreeBytes } from '../../../core/node/disk-room.ts';
import { forecastRunBytes, leastRankBytes } from '../../store/disk-space.ts';
import { homePaths } from '../../store/home.ts';
import { readEvents, readRunRecord, workerFolders } from '../../store/runs/run-folder.ts';
import { describeGrant, grantFor } from '../../trust/grant.ts';
import { requirePermissions, whyNotTrusted } from '../../trust/project-trust.ts';
import { changesBetween, commandLine, resumeCommandLine } from './command-line.ts';
import type { Projects } from './projects.ts';

/** Number of earlier runs of a project among which one to compare with is searched. */
const comparedRuns = 10;

/** Checks a configuration without starting it. @throws only if the project itself cannot be loaded */
export async function previewRun(hub: Hub, projects: Projects, request: RunRequest): Promise<RunPreview> {
  const project = await projects.describe(request.projectFolder);
  const { out, projectFolder, overrides } = request;
  const preview = await previewConfig(hub, checkConfig(project, [overrides]), {
    project,
    projectFolder,
    runFolder: folderOfNew(out),
    commandLine: (config) => commandLine(project, request, config),
  });
  return withProblems(preview, [...problemOfFolder(out), ...problemOfPermissions(projectFolder, project)]);
}

/** The preview of a run that more keeps from starting. */
export function withProblems(preview: RunPreview, more: RunPreview['problems']): RunPreview {
  return more.length === 0 ? preview : { ...preview, config: null, problems: [...preview.problems, ...more] };
}

/** An existing folder on the disk of a new run. */
export function folderOfNew(out: string | null): string {
  return out !== null && isAbsolute(out) ? out : homePaths().runs;
}

export function problemOfFolder(out: string | null): RunPreview['problems'] {
  if (out === null || isAbsolute(out)) return [];
  const message =
    `The folder "${out}" is not an absolute path: give the whole path, such as ` +
    `${join(homePaths().runs, 'my-run')}.`;
  return [{ path: 'out', message }];
}

function problemOfPermissions(folder: string, { permissions }: ProjectDescription): RunPreview['problems'] {
  try {
    requirePermissions(folder, permissions);
    return [];
  } catch (error) {
    return [{ path: null, message: messageOf(error) }];
  }
}

/**
 * Checks a resume with some options changed, as {@link previewRun} checks a new run.
 * @throws if there is no such run
 */
export async function previewResume(
  hub: Hub,
  id: string,
  { overrides, currentSource = false }: { overrides: PlainObject; currentSource?: boolean | undefined },
): Promise<RunPreview> {
  const { folder } = await hub.find(id);
  const record = await readRunRecord(folder);
  const before = parseConfig(withChanges(record.config, record.changed));
  const preview = await previewConfig(hub, checkChanges(before, overrides), {
    // The project's loss was checked when the run was created.
    project: { task: record.task, hasOwnLoss: false, metrics: record.metrics },
    projectFolder: record.project.folder,
    runFolder: folder,
    workers: record.workers,
    commandLine: (config) => resumeCommandLine(id, changesBetween(before, config), currentSource),
  });
  return { ...preview, hasChangedCode: await hasChangedCode(folder, record) };
}

/** Whether the project's code has changed since the last of these attempts, and the run kept what it trained with. */
export async function hasChangedCode(
  runFolder: string,
  { attempts, project }: Pick<RunRecord, 'attempts' | 'project'>,
): Promise<boolean> {
  return hasKeptOther(runFolder, attempts.at(-1)?.sourceHash, await hashProjectSource(project.folder));
}

export interface Previewed {
  /** How many members a worker of the run trains that goes on. */
  workers?: Workers | undefined;
  project: Combined;
  projectFolder: string;
  runFolder: string;
  commandLine(config: RunConfig): string;
}

/** Places a checked configuration and forecasts its run. Lists the problems instead of throwing. */
export async function previewConfig(hub: Hub, checked: CheckedConfig, about: Previewed): Promise<RunPreview> {
  const { devices } = await hub.devices();
  const freeBytes = await readFreeBytes(about.runFolder);
  const unknown = { diskBytes: null, durationSeconds: null, leastRankBytes: null, blasAdvice: null };
  const nothing = { plan: [], workers: null, grants: [], ...unknown, commandLine: '' };
  if (checked.config === null) return { config: null, problems: checked.problems, devices, freeBytes, ...nothing };
  const { config } = checked;
  const { plan, problems, workers } = await placeOrExplain(config, about);
  return {
    config: problems.length === 0 ? config : null,
    problems,
    plan,
    workers,
    devices,
    freeBytes,
    grants: grantsOf(about, config),
    ...(await forecast(hub, about.projectFolder, config, plan)),
    commandLine: about.commandLine(config),
  };
}

/** What the processes of a run would get. A resume of a project that is not trusted fails with the reason. */
function grantsOf({ projectFolder, runFolder }: Previewed, { memoryLimitBytes }: RunConfig): string[] {
  if (whyNotTrusted(projectFolder) !== null) return [];
  return describeGrant(
    grantFor({ project: projectFolder, read: [runFolder], write: workerFolders(runFolder), memoryLimitBytes }),
  );
}

async function placeOrExplain(
  requested: RunConfig,
  { project, projectFolder, workers: kept }: Previewed,
): Promise<Pick<RunPreview, 'plan' | 'problems' | 'workers'>> {
  try {
    const plan = await placeMembers(requested, null, kept);
    const config = { ...requested, backend: backendOn(plan[0].device, requested.backend) };
    const problems = findConflicts(config, plan, project);
    if (problems.length > 0 || config.membersPerDevice !== 'auto') return { plan, problems, workers: null };
    const workers = kept ?? (await foreseeWorkers({ projectFolder, config, plan }));
    return { plan: await placeMembers(requested, null, workers), problems, workers: workers.why };
  } catch (error) {
    const message = messageOf(error);
    return { plan: [], problems: [{ path: 'devices', message }], workers: null };
  }
}

/** Forecasts disk space, duration and memory from earlier runs of the project. */
async function forecast(
  hub: Hub,
  projectFolder: string,
  config: RunConfig,
  plan: readonly Placement[],
): Promise<Pick<RunPreview, 'diskBytes' | 'durationSeconds' | 'leastRankBytes' | 'blasAdvice'>> {
  const earlier = hub.runs({ projectFolder, limit: comparedRuns });
  const records = await Promise.all(earlier.map(({ folder }) => readRunRecord(folder)));
  const finished = records.find(
    (record) => record.status === 'finished' && countDevices(record.plan) === countDevices(plan),
  );
  const [last] = earlier;
  // A damaged event of an earlier run does not matter here; that run's own page reports it.
  const facts = last === undefined ? null : factsOf(await readEvents(last.folder, () => undefined));
  return {
    durationSeconds: finished === undefined ? null : durationSeconds(finished),
    blasAdvice: await adviseBlas({ config, blas: null }, facts),
    leastRankBytes: facts === null ? null : leastRankBytes({ parameterCount: facts.parameterCount, config }),
    diskBytes: facts === null ? null : forecastRunBytes({ parameterCount: facts.parameterCount, config }),
  };
}

function countDevices(plan: readonly Placement[]): number {
  return new Set(plan.map(({ device }) => device.id)).size;
}

/** Total time of the attempts, without the time between them. */
function durationSeconds({ attempts }: RunRecord): number {
  const times = attempts.map(({ startedAt, endedAt }) => Date.parse(endedAt ?? startedAt) - Date.parse(startedAt));
  return times.reduce((sum, timeMs) => sum + timeMs, 0) / 1000;
}
