import { randomBytes } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { mergeConfig, type PlainObject } from '../../core/options/index.ts';
import type { Blas, Placement } from '../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import { memberCountOf, stagesOf } from '../../core/protocol/run/strategies/ranks-and-members.ts';
import { chooseBlas } from '../backends/choose-blas.ts';
import { backendOn, usableKinds } from '../processes/native-build.ts';
import { detectDevices } from '../devices/detect.ts';
import type { TaskServer } from '../nodes/task-server.ts';
import { planPlacement } from '../devices/plan.ts';
import { selectDevices } from '../devices/selection.ts';
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
  const plan = await placeMembers(requested, tasks);
  const config = { ...requested, backend: backendOn(plan[0].device, requested.backend) };
  refuseCombinations(config, plan, project);
  const blas = await chooseBlas(config);
  const { sweep } = request;
  const id = sweep === undefined ? createRunId(request.projectFolder) : sweepRunId(sweep, sweep.index);
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
    sweep,
  };
}

/**
 * Assigns each rank a device and a wave.
 * @param tasks of a launch on several nodes; null: on this machine
 * @throws Error if the configuration names devices that do not exist
 */
export async function placeMembers(config: RunConfig, tasks: TaskServer | null = null): Promise<Placement[]> {
  const { members: ranks, placement, membersPerDevice } = config;
  // Numbers that do not fit are refused with the other conflicts, which need a plan.
  const stages = Number.isInteger(memberCountOf(config)) ? stagesOf(config) : 1;
  const request = { ranks, placement, membersPerDevice, stages };
  if (tasks !== null) return planPlacement({ ...request, devices: tasks.devicesFor(config) });
  const loadWindowMs = config.devices === 'idle' ? 200 : 0;
  const kinds = usableKinds(config.backend);
  const { devices, notes } = await detectDevices({ coreLoadWindowMs: loadWindowMs });
  if (!devices.some(({ kind }) => kinds.includes(kind))) {
    throw new Error([`The backend ${config.backend} finds no device that it computes on.`, ...notes].join(' '));
  }
  const selected = selectDevices(config.devices, devices, kinds);
  return planPlacement({ ...request, devices: selected });
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
