import { randomBytes } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { mergeConfig, type PlainObject } from '../../core/options/index.ts';
import type { Blas, Device, Placement } from '../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import { memberCountOf, stagesOf } from '../../core/protocol/run/strategies/ranks-and-members.ts';
import type { Workers } from '../../core/protocol/run/workers.ts';
import { chooseBlas } from '../backends/choose-blas.ts';
import { backendOn, usableKinds } from '../processes/native-build.ts';
import { detectDevices } from '../devices/detect.ts';
import type { TaskServer } from '../nodes/task-server.ts';
import { planPlacement } from '../devices/plan.ts';
import { selectDevices } from '../devices/selection.ts';
import { chooseWorkers, whyNotStacked } from '../placement/choose-workers.ts';
import { refuseCombinations } from '../runs/configuration/combinations.ts';
import { withOwnModes } from '../runs/configuration/metric-combinations.ts';
import { resolveConfig } from '../runs/configuration/resolve-config.ts';
import { requirePermissions, requireTrust } from '../trust/project-trust.ts';
import { type SweepPlace, sweepRunId } from '../../core/protocol/run/sweep/sweep.ts';
import { homePaths } from '../store/home.ts';

export interface TrainRequest {
  projectFolder: string;
  /** Later layers override earlier ones: a configuration file, then flags. */
  overrides: readonly PlainObject[];
  name?: string | undefined;
  /** The run's folder; by default a new one in Tutti's home. */
  folder?: string | undefined;
  /** Its place in a sweep, from which its id follows. */
  sweep?: SweepPlace | undefined;
}

/** A run that was checked and placed on devices but has not started. */
export interface PlannedRun {
  project: ProjectDescription;
  projectFolder: string;
  config: RunConfig;
  /** The requested changes to the project's defaults. */
  overrides: PlainObject;
  plan: Placement[];
  blas: Blas | null;
  /** How many members a worker trains; absent where the configuration says so. */
  workers?: Workers | undefined;
  folder: string;
  name: string;
  id: string;
  sweep?: SweepPlace | undefined;
}

/**
 * @throws Error if the configuration is invalid, has parts that exclude each other, or names a device or a BLAS that
 * does not exist
 */
export async function planRun(
  request: TrainRequest,
  project: ProjectDescription,
  tasks: TaskServer | null = null,
): Promise<PlannedRun> {
  requireTrust(request.projectFolder);
  requirePermissions(request.projectFolder, project.permissions);
  const requested = withOwnModes(resolveConfig(project, request.overrides), project);
  const devices = await selectFor(requested, tasks);
  const config = { ...requested, backend: backendOn(devices[0], requested.backend) };
  const apart = placeOn(devices, config);
  refuseCombinations(config, apart, project);
  const blas = await chooseBlas(config, undefined, apart[0].threads);
  const { projectFolder } = request;
  const isChosen = config.membersPerDevice === 'auto';
  const workers = isChosen ? await chooseWorkers({ projectFolder, config, blas, plan: apart }) : undefined;
  const { sweep } = request;
  const id = sweep === undefined ? createRunId(request.projectFolder) : sweepRunId(sweep, sweep.index);
  return {
    project,
    projectFolder: resolve(request.projectFolder),
    config,
    overrides: request.overrides.reduce((merged, layer) => mergeConfig(merged, layer), {}),
    plan: placeOn(devices, config, workers),
    blas,
    workers,
    folder: resolve(request.folder ?? join(homePaths().runs, id)),
    name: request.name ?? project.name,
    id,
    sweep,
  };
}

/**
 * Assigns each rank a device and a wave.
 * @param tasks of a launch on several nodes; null: on this machine
 * @param workers how many members a worker trains, where the configuration leaves that open; absent: one
 * @throws Error if the configuration names devices that do not exist
 */
export async function placeMembers(
  config: RunConfig,
  tasks: TaskServer | null = null,
  workers?: Workers,
): Promise<Placement[]> {
  return placeOn(await selectFor(config, tasks), config, workers);
}

function placeOn(devices: readonly Device[], config: RunConfig, workers?: Workers): Placement[] {
  const { members: ranks, placement, membersPerDevice, backend } = config;
  // Numbers that do not fit are refused with the other conflicts, which need a plan.
  const stages = Number.isInteger(memberCountOf(config)) ? stagesOf(config) : 1;
  // The cores of several nodes cannot be shared out as one number, and threads take memory.
  const isAlone = devices[0].node !== undefined || config.memoryLimitBytes > 0;
  const threads = config.threads === 'auto' && isAlone ? 1 : config.threads;
  const usesThreads = backend === 'auto' || backend === 'wasm';
  const request = { ranks, devices, placement, stages, threads: usesThreads ? threads : 1 };
  if (membersPerDevice !== 'auto') return planPlacement({ ...request, membersPerWorker: membersPerDevice });
  const isStacked = whyNotStacked({ ...config, backend: backendOn(devices[0], config.backend) }) === null;
  return planPlacement({ ...request, isStacked, membersPerWorker: isStacked ? workers?.members : 1 });
}

async function selectFor(config: RunConfig, tasks: TaskServer | null): Promise<Device[]> {
  if (tasks !== null) return tasks.devicesFor(config);
  const loadWindowMs = config.devices === 'idle' ? 200 : 0;
  const kinds = usableKinds(config.backend);
  const { devices, notes } = await detectDevices({ coreLoadWindowMs: loadWindowMs });
  if (!devices.some(({ kind }) => kinds.includes(kind))) {
    throw new Error([`The backend ${config.backend} finds no device that it computes on.`, ...notes].join(' '));
  }
  return selectDevices(config.devices, devices, kinds);
}

/** `20261121-081502-joint-early-stopping-3fa9`: sorts by time and is unique. */
export function createRunId(projectFolder: string): string {
  const time = new Date().toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const slug = basename(resolve(projectFolder))
    .replace(/[^a-zA-Z0-9]+/g, '-')
    .toLowerCase()
    .slice(0, 100);
  return `${time}-${slug}-${randomBytes(2).toString('hex')}`;
}
