import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import type { CheckpointRecord, RunRecord } from '../../core/protocol/run/record.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { Hub } from '../../src-main/hub/hub.ts';
import type { RunSession } from '../../src-main/runs/attempt/run-session.ts';
import type { WorkerSeat } from '../../src-main/runs/workers/shared-workers.ts';
import { keepSurvey, takeSurvey } from '../environment/kept-survey.ts';
import { type MetricTable, readMetrics } from './metric-table.ts';

/** A run with real worker processes, watched. */
export interface WatchedRun {
  session: RunSession;
  folder: string;
  updates: RunUpdate[];
  /** Resolves with the run's record when it has ended. */
  ended: Promise<RunRecord>;
  /** Resolves with the first matching update, past or future. Rejects when the run ends without one. */
  until(matches: (update: RunUpdate) => boolean): Promise<RunUpdate>;
}

export const projectFolder = (name: string): string => resolve(import.meta.dirname, 'projects', name);

/**
 * A hub in a temporary Tutti home for all tests of a file. Later runs start faster, because the home caches compiled
 * code.
 */
export function useHub(): { hub: () => Hub; home: () => string } {
  let home = '';
  let hub: Hub | null = null;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'tutti-integration-'));
    process.env.TUTTI_HOME = home;
    await takeSurvey(home);
    hub = await Hub.open();
  });
  afterAll(async () => {
    hub?.close();
    await keepSurvey(home);
    await rm(home, { recursive: true, force: true });
  });
  return {
    home: () => home,
    hub: () => {
      if (hub === null) throw new Error('The hub opens before the first test.');
      return hub;
    },
  };
}

/** Plans and starts a run of a project: a test project by its name, or any other by its path. */
export async function startRun(
  hub: Hub,
  project: string,
  config: RunConfigInput,
  folder?: string,
  seat: WorkerSeat | null = null,
): Promise<WatchedRun> {
  const path = projectFolder(project);
  const described = await describeOnce(hub, project, path);
  const planned = await hub.planRun({ projectFolder: path, overrides: [config], folder }, described);
  return watch((listener) => hub.start(planned, listener, seat), planned.folder);
}

const descriptions = new Map<string, ReturnType<Hub['describe']>>();

/**
 * A test project does not change, so one process describes it for all tests of a file. Those that tests write are
 * described each time.
 */
function describeOnce(hub: Hub, project: string, path: string): ReturnType<Hub['describe']> {
  if (isAbsolute(project)) return hub.describe(path);
  const known = descriptions.get(project) ?? hub.describe(path);
  descriptions.set(project, known);
  return known;
}

/** Runs a project to its end. */
export async function train(
  hub: Hub,
  project: string,
  config: RunConfigInput,
): Promise<WatchedRun & { record: RunRecord }> {
  const run = await startRun(hub, project, config);
  return { ...run, record: await run.ended };
}

/** Trains each configuration once, for the tests of a file that compare with a run that nobody disturbed. */
export function trainOnce(): (hub: Hub, project: string, config: RunConfigInput) => ReturnType<typeof train> {
  const runs = new Map<string, ReturnType<typeof train>>();
  return (hub, project, config) => {
    const key = JSON.stringify([project, config]);
    const run = runs.get(key) ?? train(hub, project, config);
    runs.set(key, run);
    return run;
  };
}

/** Resumes a run to its end. */
export async function resume(hub: Hub, folder: string, override: RunConfigInput = {}): Promise<RunRecord> {
  return (await hub.resume(folder, override, () => {})).run();
}

/** Starts to resume a run. */
export function watchResume(hub: Hub, folder: string, override: RunConfigInput = {}): Promise<WatchedRun> {
  return watch((listener) => hub.resume(folder, override, listener), folder);
}

async function watch(
  open: (listener: (update: RunUpdate) => void) => RunSession | Promise<RunSession>,
  folder: string,
): Promise<WatchedRun> {
  const updates: RunUpdate[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;
  const session = await open((update) => {
    updates.push(update);
    for (const look of waiting) look();
  });
  const ended = session.run().finally(() => {
    isOver = true;
    for (const look of waiting) look();
  });
  const until = (matches: (update: RunUpdate) => boolean): Promise<RunUpdate> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = updates.find(matches);
        if (found !== undefined) resolve(found);
        else if (isOver) reject(new Error('The run ended without the update that was waited for.'));
        else return;
        waiting.delete(look);
      };
      waiting.add(look);
      look();
    });
  return { session, folder, updates, ended, until };
}

/**
 * Settings of runs whose ranks are killed half-way. A state is saved at each evaluation, every 60 steps, and waits for
 * the hub, so that no rank finishes before the test sees its steps.
 */
export const killable = {
  devices: 'cpu:0,1',
  evaluateEveryEpochs: 20,
  logEverySteps: 20,
  checkpoints: { stateEverySeconds: 0 },
} satisfies RunConfigInput;

/**
 * Resolves when a rank that trains has done that many steps. Its progress alone may come after its end on a fast
 * machine: it is reported twice a second.
 */
export async function untilStep(run: WatchedRun, rank: number, step: number): Promise<void> {
  await run.until((update) => {
    if (update.type === 'points') return update.rank === rank && Math.max(...update.batch.step) >= step;
    const isOfTraining = update.type === 'progress' || (update.type === 'worker' && update.state === 'training');
    return isOfTraining && update.rank === rank && update.step >= step;
  });
}

/** The pid of a rank, once it trains and has saved its own best, so that there is something to lose. */
export async function pidOnceTraining(run: WatchedRun, rank: number): Promise<number> {
  const isKept = ({ rank: of, name }: CheckpointRecord): boolean => of === rank && name === 'member-best';
  await run.until((update) => update.type === 'checkpoint' && isKept(update.record));
  return pidOf(run.updates, rank);
}

export function pidOf(updates: readonly RunUpdate[], rank: number): number {
  const pid = updates.flatMap((update) => (update.type === 'worker' && update.rank === rank ? [update.pid] : []))[0];
  if (pid === undefined || pid === null) throw new Error(`Rank ${rank} has said nothing yet.`);
  return pid;
}

/** Whether a process runs. A zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

/** Columns of `metrics.csv` as written, without those that measure time. */
export function metricColumns(folder: string): Map<string, string[]> {
  const [header, ...rows] = readFileSync(join(folder, 'metrics.csv'), 'utf8').trimEnd().split('\n');
  const cells = rows.map((row) => row.split(','));
  const names = header.split(',');
  const columns = names.map((name, i): [string, string[]] => [name, cells.map((row) => row[i])]);
  return new Map(columns.filter(([name]) => !name.endsWith('samples_per_second')));
}

/**
 * Like {@link metricColumns}, with rows of the same step merged. How a row was split depends only on which rank was
 * slower.
 */
export async function mergedMetrics(folder: string): Promise<Pick<MetricTable, 'epoch' | 'step' | 'values'>> {
  const { epoch, step, values } = await readMetrics(folder);
  const untimed = [...values].filter(([name]) => !name.endsWith('samples_per_second'));
  return { epoch, step, values: new Map(untimed) };
}

/** Values of one metric in the order written, without empty cells. */
export function metricValues(folder: string, name: string): string[] {
  return (metricColumns(folder).get(name) ?? []).filter((cell) => cell !== '');
}

export interface SavedCheckpoint {
  epoch: number;
  step: number;
  sha256: string;
  score: number | null;
}

export function readCheckpointRecord(folder: string, rank: number, name: string): SavedCheckpoint {
  return JSON.parse(
    readFileSync(join(folder, 'checkpoints', `rank-${rank}`, `${name}.json`), 'utf8'),
  ) as SavedCheckpoint;
}
