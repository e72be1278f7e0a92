import { dirname, join, resolve } from 'node:path';
import { isDirectlyIn } from '../../core/node/same-folder.ts';
import { leavesOf, mergeConfig, type PlainObject, setPath } from '../../core/options/index.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { mostRepetitions, repeatedSeed, type Sweep, sweepRunId } from '../../core/protocol/run/sweep/sweep.ts';
import { createRunId, type PlannedRun, type TrainRequest } from '../hub/plan-run.ts';
import type { Hub } from '../hub/hub.ts';
import { hashProjectSource } from '../runs/configuration/project-source.ts';
import { resolveConfig } from '../runs/configuration/resolve-config.ts';
import { homePaths } from '../store/home.ts';
import { readRunRecord } from '../store/runs/run-folder.ts';
import type { RunRow } from '../../core/protocol/pages/run-list.ts';
import type { RunIndex } from '../store/index/run-index.ts';
import { summarizeSweep, type SweepSummary } from '../../core/protocol/pages/sweep-summary.ts';

/** What the runs of a sweep train, and where they are. */
export interface SweepPlan {
  sweep: Sweep;
  project: ProjectDescription;
  projectFolder: string;
  /** The configuration of all runs, as changes to the project's defaults; the seed is added. */
  overrides: PlainObject;
  /** The folder in which each run has its own; null: Tutti's home. */
  folder: string | null;
}

/**
 * A new sweep: the runs of a request, which differ in their seeds. Nothing is written yet.
 * @throws Error if the number of runs or the configuration is invalid, as {@link Hub.planRun} does
 */
export async function newSweep(
  hub: Hub,
  { projectFolder, overrides, name, folder }: TrainRequest,
  project: ProjectDescription,
  repeat: number,
): Promise<SweepPlan> {
  if (repeat < 2 || repeat > mostRepetitions) {
    throw new Error(
      `--repeat ${repeat}: a mean with a standard error needs 2 to ${mostRepetitions} runs. Omit it to train one run.`,
    );
  }
  const { seed } = resolveConfig(project, overrides);
  const plan: SweepPlan = {
    sweep: { id: createRunId(projectFolder), name: name ?? project.name, of: repeat, seed },
    project,
    projectFolder: resolve(projectFolder),
    overrides: overrides.reduce((merged, layer) => mergeConfig(merged, layer), {}),
    folder: folder === undefined ? null : resolve(folder),
  };
  await planSweepRun(hub, plan, 0);
  return plan;
}

/**
 * The plan of a sweep whose first runs exist: from the configuration of one of them, so that the others train the same.
 * @param isCurrentSource whether the others may train with the project's present code although it has changed since
 * @throws Error if there is no such sweep, or the project's code has changed
 */
export async function openSweep(hub: Hub, id: string, isCurrentSource = false): Promise<SweepPlan> {
  const [{ folder }] = runsOfSweep(hub, id);
  const record = await readRunRecord(folder);
  const { sweep, project, config, attempts } = record;
  if (sweep === undefined) throw new Error(`The run ${record.id} belongs to no sweep.`);
  if (!isCurrentSource) await refuseNewSource(record, sweep);
  // Runs that train side by side have shares of the devices, so the devices are those that the user asked for.
  const { devices: _share, seed: _seed, ...shared } = config;
  const { devices } = attempts[0].overrides ?? {};
  return {
    sweep: { id: sweep.id, name: sweep.name, of: sweep.of, seed: sweep.seed },
    project: await hub.describe(project.folder),
    projectFolder: project.folder,
    overrides: { ...withPatterns(shared, attempts[0].overrides ?? {}), ...(devices === undefined ? {} : { devices }) },
    folder: isDirectlyIn(folder, homePaths().runs) ? null : dirname(folder),
  };
}

/** The folder of a run of a sweep. */
export function sweepRunFolder({ sweep, folder }: Pick<SweepPlan, 'sweep' | 'folder'>, index: number): string {
  return folder === null ? join(homePaths().runs, sweepRunId(sweep, index)) : join(folder, `seed-${index}`);
}

/**
 * One run of a sweep, checked and placed.
 * @param devices on which it trains; undefined: those of the configuration
 */
export async function planSweepRun(
  hub: Hub,
  { sweep, project, projectFolder, overrides, folder }: SweepPlan,
  index: number,
  devices?: string,
): Promise<PlannedRun> {
  const seed = repeatedSeed(sweep.seed, index);
  const asked = { ...overrides, seed };
  const own = withPlace(asked, index);
  const planned = await hub.planRun(
    {
      projectFolder,
      overrides: [devices === undefined ? own : { ...own, devices }],
      name: `${sweep.name}, seed ${seed}`,
      folder: sweepRunFolder({ sweep, folder }, index),
      sweep: { ...sweep, index },
    },
    project,
  );
  return { ...planned, overrides: asked };
}

/**
 * Stands for the index of a run in texts of its configuration, such as the path of the checkpoint that it begins with.
 */
const placeMark = '{index}';

/** The configuration of one run of a sweep. */
function withPlace(overrides: PlainObject, index: number): PlainObject {
  return patternsOf(overrides).reduce(
    (config, [path, text]) => setPath(config, path, text.replaceAll(placeMark, String(index))),
    overrides,
  );
}

/** A configuration in which the texts that depend on the run are patterns again. */
function withPatterns(config: PlainObject, asked: PlainObject): PlainObject {
  return patternsOf(asked).reduce((changed, [path, text]) => setPath(changed, path, text), config);
}

function patternsOf(overrides: PlainObject): [path: string, text: string][] {
  return leavesOf(overrides).flatMap(([path, value]): [string, string][] =>
    typeof value === 'string' && value.includes(placeMark) ? [[path, value]] : [],
  );
}

/** Runs of one sweep that train different code could not be compared. */
async function refuseNewSource({ attempts, project }: RunRecord, { id }: Pick<Sweep, 'id'>): Promise<void> {
  const before = attempts.at(-1)?.sourceHash ?? null;
  if (before === null || before === (await hashProjectSource(project.folder))) return;
  throw new Error(
    `The code of ${project.folder} has changed since the sweep ${id} began, so its other runs would train ` +
      'something else. Restore the code, or train them with the present code: --current-source.',
  );
}

/** A run that belongs to a sweep. */
type SweepRow = RunRow & { sweep: NonNullable<RunRow['sweep']> };

/**
 * The runs of a sweep that exist, in the order of their seeds. Of copies of a run, only the first counts.
 * @throws Error if there are none
 */
function runsOfSweep({ index }: { index: RunIndex }, id: string): [SweepRow, ...SweepRow[]] {
  const rows = index.list({ sweeps: [id], sort: { by: 'created', isDescending: false } }).filter(isOfSweep);
  const byPlace = new Map(rows.toReversed().map((row) => [row.sweep.index, row]));
  const [first, ...others] = [...byPlace.values()].toSorted((a, b) => a.sweep.index - b.sweep.index);
  if (first === undefined) throw new Error(`No run belongs to a sweep ${id}. \`tutti runs\` lists the runs.`);
  return [first, ...others];
}

/** A run or a sweep that a user named. */
export type Subject = { kind: 'run'; row: RunRow } | { kind: 'sweep'; sweep: Sweep; rows: [SweepRow, ...SweepRow[]] };

/**
 * Finds what a user named: a sweep by its id, its name or the beginning of its id, else a run as {@link Hub.find} does.
 * @throws Error if there is none, or several
 */
export async function findSubject(hub: Hub, text: string): Promise<Subject> {
  const id = hub.index.findSweep(text);
  if (id === null) return { kind: 'run', row: await hub.find(text) };
  const rows = runsOfSweep(hub, id);
  const [{ sweep }] = rows;
  return { kind: 'sweep', sweep: { id, name: sweep.name, of: sweep.of, seed: sweep.seed }, rows };
}

function isOfSweep(row: RunRow): row is SweepRow {
  return row.sweep !== null;
}

/** What a sweep has found so far, from the records of its runs. @throws Error if there is no such sweep */
export async function readSweep(hub: Hub, id: string): Promise<SweepSummary> {
  const rows = runsOfSweep(hub, id);
  const runs = await Promise.all(rows.map(async ({ folder }) => ({ folder, record: await readRunRecord(folder) })));
  return summarizeSweep(rows[0].sweep, runs);
}
