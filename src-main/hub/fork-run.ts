import { join, resolve } from 'node:path';
import type { PlainObject } from '../../core/options/index.ts';
import type { ForkChoice, ForkPoint } from '../../core/protocol/history/history.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { RunOrigin, RunRecord } from '../../core/protocol/run/record.ts';
import { blasOfResumed } from '../backends/choose-blas.ts';
import { stillChanged } from '../runs/attempt/resume-run.ts';
import { refuseCombinations } from '../runs/configuration/combinations.ts';
import { withOwnModes } from '../runs/configuration/metric-combinations.ts';
import { changeConfig } from '../runs/configuration/resolve-config.ts';
import type { ForkSource } from '../runs/fork/copy-run.ts';
import type { SavedState } from '../runs/recording/lost-metrics.ts';
import type { ResumeStart } from '../runs/recording/run-recorder.ts';
import { folderOfPoint, roundOf } from '../runs/fork/fork-points.ts';
import { withNext } from '../runs/recording/attempts.ts';
import { homePaths } from '../store/home.ts';
import type { RunRow } from '../../core/protocol/pages/run-list.ts';
import { projectFolderOf, requireTrust } from '../trust/project-trust.ts';
import { readForkBasis, withoutWarmStart } from './fork-basis.ts';
import { findForkProblems, forkErrorOf } from './fork-problems.ts';
import { keptOrigin, learnedBy, originOf } from './new-record.ts';
import { keptWorkers } from '../../core/protocol/run/workers.ts';
import { createRunId, placeMembers } from './plan-run.ts';

export interface ForkRequest {
  choice: ForkChoice;
  /** Changes to the configuration of the attempt that saved the point. */
  overrides: PlainObject;
  name?: string | undefined;
  /** The fork's folder; by default a new one in Tutti's home. */
  folder?: string | undefined;
  /** Train with the project's present code, although it has changed since the point was saved. */
  currentSource?: boolean | undefined;
}

/** A fork that was checked and placed on devices but has not started. */
export interface PlannedFork {
  source: ForkSource;
  point: ForkPoint;
  /** The fork's first record, without its hub. */
  record: RunRecord;
  folder: string;
  start: ResumeStart;
}

/**
 * @throws Error if there is no such point, the configuration is invalid, or the fork would not train
 * @throws UntrustedError if the project is not trusted
 */
export async function planFork(run: RunRow, request: ForkRequest): Promise<PlannedFork> {
  const basis = await readForkBasis(run, request.choice);
  const { source, point, start } = basis;
  const { record: before } = source;
  const { overrides, currentSource = false } = request;
  const config = withoutWarmStart(withOwnModes(changeConfig(basis.config, overrides), before), point);
  const plan = await placeMembers(config, null, before.workers);
  // The project's loss was checked when the run was created.
  refuseCombinations(config, plan, { task: before.task, hasOwnLoss: false, metrics: before.metrics });
  const [problem] = findForkProblems(basis, config, plan);
  if (problem !== undefined) throw forkErrorOf(problem);
  requireTrust(projectFolderOf(before));
  const name = request.name ?? `${run.name} (fork)`;
  const record = await firstRecord(source, { point, config, overrides, plan, name, currentSource });
  const changed = stillChanged({ changed: basis.changed }, overrides);
  const marks = changed === undefined || Object.keys(changed).length === 0 ? {} : { changed };
  const folder = resolve(request.folder ?? join(homePaths().runs, record.id));
  const origin = originFrom(run, before, point);
  const states = point.kind === 'state' ? [savedAt(point, record)] : [];
  return { source, point, record: { ...record, ...marks, origin }, folder, start: { at: start, rows: null, states } };
}

/** The state in the fork's folder that knows what its metrics must hold. */
function savedAt({ name }: ForkPoint, { plan, lostMembers = [] }: RunRecord): SavedState {
  const present = plan.find(({ rank }) => lostMembers.every((lost) => lost.rank !== rank));
  return { rank: present?.rank ?? 0, round: roundOf(folderOfPoint('', name).own) };
}

interface Chosen {
  point: ForkPoint;
  config: RunConfig;
  overrides: PlainObject;
  plan: RunRecord['plan'];
  name: string;
  currentSource: boolean;
}

async function firstRecord(
  { folder, record: before }: ForkSource,
  { point, config, overrides, plan, name, currentSource }: Chosen,
): Promise<RunRecord> {
  const { project } = before;
  const present = await originOf(project.folder, plan);
  // A later attempt may have trained with other code.
  const until = { attempts: before.attempts.slice(0, point.attempt) };
  const facts = currentSource ? present : await keptOrigin(folder, until, present);
  return {
    format: 1,
    id: createRunId(project.folder),
    name,
    ...learnedBy(before),
    config,
    status: 'created',
    createdAt: new Date().toISOString(),
    endedAt: null,
    plan,
    ...lostMembersAt(before, point),
    seeds: plan.map(({ rank }) => (config.identicalSeeds ? config.seed : (config.seed + rank) >>> 0)),
    blas: await blasOfResumed(before, config),
    ...keptWorkers(before, config),
    versions: { node: process.versions.node },
    gitCommit: facts.gitCommit ?? null,
    attempts: withNext([], { kind: 'fork', overrides, config, ...facts }),
    hub: null,
    error: null,
    summary: null,
  };
}

function originFrom(run: RunRow, { id }: RunRecord, { name, kind, attempt, epoch, step }: ForkPoint): RunOrigin {
  return { run: id, name: run.name, folder: run.folder, attempt, kind, point: name, epoch, step };
}

/** Checkpoints hold the weights of all members; states only of those that were not lost. */
function lostMembersAt(before: RunRecord, { kind }: ForkPoint): Pick<RunRecord, 'lostMembers'> {
  if (kind === 'checkpoint' || before.lostMembers === undefined) return {};
  return { lostMembers: before.lostMembers.map((lost) => ({ ...lost, attempt: 1 })) };
}
