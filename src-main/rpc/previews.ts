import type { Placement } from '../../protocol/devices.ts';
import type { ConfigProblem } from '../../protocol/options.ts';
import type { ProjectDescription } from '../../protocol/project-description.ts';
import type { RunPreview, RunRequest } from '../../protocol/rpc.ts';
import type { RunConfig } from '../../protocol/run-config.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { backendOn } from '../backends/native-build.ts';
import { type Hub, placeMembers } from '../hub.ts';
import { findConflicts } from '../runs/combinations.ts';
import { checkConfig } from '../runs/resolve-config.ts';
import { factsOf } from '../runs/run-facts.ts';
import { forecastRunBytes, readFreeBytes } from '../store/disk-space.ts';
import { homePaths } from '../store/home.ts';
import { readEvents, readRunRecord } from '../store/run-folder.ts';
import { commandLine } from './command-line.ts';
import type { Projects } from './projects.ts';

/** Earlier runs of a project that are looked through for one to compare with. */
const comparedRuns = 10;

/** Checks a configuration without starting it. @throws only where the project itself cannot be loaded */
export async function previewRun(hub: Hub, projects: Projects, request: RunRequest): Promise<RunPreview> {
  const project = await projects.describe(request.projectFolder);
  const { devices } = await hub.devices();
  const freeBytes = await readFreeBytes(homePaths().runs);
  const checked = checkConfig(project, [request.overrides]);
  const nothing = { plan: [], diskBytes: null, durationSeconds: null, commandLine: '' };
  if (checked.config === null) return { config: null, problems: checked.problems, devices, freeBytes, ...nothing };
  const { config } = checked;
  const { plan, problems } = await placeOrExplain(config, project);
  return {
    config: problems.length === 0 ? config : null,
    problems,
    plan,
    devices,
    freeBytes,
    ...(await forecast(hub, request.projectFolder, config, plan)),
    commandLine: commandLine(project, request, config),
  };
}

async function placeOrExplain(
  config: RunConfig,
  project: ProjectDescription,
): Promise<{ plan: Placement[]; problems: ConfigProblem[] }> {
  try {
    const plan = await placeMembers(config);
    const backend = backendOn(plan[0].device, config.backend);
    return { plan, problems: findConflicts({ ...config, backend }, plan, project) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { plan: [], problems: [{ path: 'devices', message }] };
  }
}

/** What the run will take, as far as earlier runs of the project tell. */
async function forecast(
  hub: Hub,
  projectFolder: string,
  config: RunConfig,
  plan: readonly Placement[],
): Promise<Pick<RunPreview, 'diskBytes' | 'durationSeconds'>> {
  const earlier = hub.runs({ projectFolder, limit: comparedRuns });
  const records = await Promise.all(earlier.map(({ folder }) => readRunRecord(folder)));
  const finished = records.find(
    (record) => record.status === 'finished' && countDevices(record.plan) === countDevices(plan),
  );
  const [last] = earlier;
  const facts = last === undefined ? null : factsOf(await readEvents(last.folder));
  return {
    durationSeconds: finished === undefined ? null : durationSeconds(finished),
    diskBytes:
      facts === null
        ? null
        : forecastRunBytes({ parameterCount: facts.parameterCount, members: config.members, config }),
  };
}

function countDevices(plan: readonly Placement[]): number {
  return new Set(plan.map(({ device }) => device.id)).size;
}

/** Time of the attempts, without what lay between them. */
function durationSeconds({ attempts }: RunRecord): number {
  const times = attempts.map(({ startedAt, endedAt }) => Date.parse(endedAt ?? startedAt) - Date.parse(startedAt));
  return times.reduce((sum, timeMs) => sum + timeMs, 0) / 1000;
}
