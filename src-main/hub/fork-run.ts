import { join, resolve } from 'node:path';
import { mergeConfig, type PlainObject } from '../../core/options/index.ts';
import { roundPath } from '../../core/node/saved-rounds.ts';
import { chooseForkPoint, type ForkChoice, type ForkPoint } from '../../core/protocol/history/fork.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { configOfAttempt, type RunOrigin, type RunRecord } from '../../core/protocol/run/record.ts';
import { type SettingChanges, settingNames, settingsOf } from '../../core/protocol/run/settings.ts';
import { blasOfResumed } from '../backends/choose-blas.ts';
import { stillChanged } from '../runs/attempt/resume-run.ts';
import { refuseCombinations } from '../runs/configuration/combinations.ts';
import { withOwnModes } from '../runs/configuration/metric-combinations.ts';
import { changeConfig, parseConfig } from '../runs/configuration/resolve-config.ts';
import type { ForkSource } from '../runs/fork/copy-run.ts';
import { folderOfPoint, ranksOfState, readForkPoints, readStateData, roundOf } from '../runs/fork/fork-points.ts';
import { positionAfter } from '../runs/fork/fork-start.ts';
import type { ResumeStart } from '../runs/recording/run-recorder.ts';
import { withNext } from '../runs/recording/attempts.ts';
import { homePaths } from '../store/home.ts';
import type { RunRow } from '../../core/protocol/pages/run-list.ts';
import { readSavedRound } from '../store/runs/saved-rounds.ts';
import { readRunRecord } from '../store/runs/run-folder.ts';
import { requireTrust } from '../trust/project-trust.ts';
import { findForkProblems, forkErrorOf } from './fork-problems.ts';
import { originOf } from './new-record.ts';
import { createRunId, placeMembers } from './plan-run.ts';

export interface ForkRequest {
  choice: ForkChoice;
  /** Changes to the configuration of the attempt that saved the point. */
  overrides: PlainObject;
  name?: string | undefined;
  /** The fork's folder; by default a new one in Tutti's home. */
  folder?: string | undefined;
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

/** What a fork of a point begins with. */
export interface ForkBasis {
  source: ForkSource;
  point: ForkPoint;
  /** The configuration of the attempt that saved the point. */
  config: RunConfig;
  /** Settings that were changed while it trained until then; they replace those of `config`. */
  changed: SettingChanges;
  /** Where training goes on. */
  start: { epoch: number; step: number };
}

/** The configuration at a point of a run, with what was changed while it trained. */
async function configAt(
  { folder, record }: ForkSource,
  point: ForkPoint,
): Promise<{ config: RunConfig; changed: SettingChanges }> {
  const attempt = record.attempts.find((one) => one.attempt === point.attempt);
  const config = (attempt && configOfAttempt(record, attempt)) ?? record.config;
  const isLast = point.attempt === record.attempts.length;
  if (point.kind === 'checkpoint') return { config, changed: (isLast ? record.changed : attempt?.changed) ?? {} };
  const { folder: from, own } = folderOfPoint(folder, point.name);
  const [first] = ranksOfState(record);
  const round = roundOf(own);
  const data = await readStateData(from, first, round);
  if (data === null) {
    throw new Error(`${roundPath(from, first, round)}.safetensors is missing or damaged. Fork from another point.`);
  }
  const configured = settingsOf(config);
  const names = settingNames.filter((name) => data.settings[name] !== configured[name]);
  return { config, changed: Object.fromEntries(names.map((name) => [name, data.settings[name]])) };
}

/**
 * The point of a run that is asked for, and what a fork of it begins with.
 * @throws Error if there is no such point, or its files are damaged
 */
export async function readForkBasis({ id, folder }: RunRow, choice: ForkChoice): Promise<ForkBasis> {
  const record = await readRunRecord(folder);
  const point = chooseForkPoint(id, await readForkPoints(folder, record), choice);
  const source = { folder, record };
  const { config, changed } = await configAt(source, point);
  return { source, point, config: withoutWarmStart(config, point), changed, start: await positionOf(source, point) };
}

/**
 * @throws Error if there is no such point, the configuration is invalid, or the fork would not train
 * @throws UntrustedError if the project is not trusted
 */
export async function planFork(run: RunRow, request: ForkRequest): Promise<PlannedFork> {
  const basis = await readForkBasis(run, request.choice);
  const { source, point, start } = basis;
  const { record: before } = source;
  const { overrides } = request;
  const config = withoutWarmStart(withOwnModes(changeConfig(basis.config, overrides), before), point);
  const plan = await placeMembers(config);
  // The project's loss was checked when the run was created.
  refuseCombinations(config, plan, { task: before.task, hasOwnLoss: false, metrics: before.metrics });
  const [problem] = findForkProblems(basis, config, plan);
  if (problem !== undefined) throw forkErrorOf(problem);
  requireTrust(before.project.folder);
  const name = request.name ?? `${run.name} (fork)`;
  const record = await firstRecord(source, { point, config, overrides, plan, name });
  const changed = stillChanged({ changed: basis.changed }, overrides);
  const marks = changed === undefined || Object.keys(changed).length === 0 ? {} : { changed };
  const folder = resolve(request.folder ?? join(homePaths().runs, record.id));
  const origin = originFrom(run, before, point);
  return { source, point, record: { ...record, ...marks, origin }, folder, start: { at: start, rows: null } };
}

interface Chosen {
  point: ForkPoint;
  config: RunConfig;
  overrides: PlainObject;
  plan: RunRecord['plan'];
  name: string;
}

async function firstRecord(
  { record: before }: ForkSource,
  { point, config, overrides, plan, name }: Chosen,
): Promise<RunRecord> {
  const { project, task, metrics } = before;
  const facts = await originOf(project.folder, plan);
  return {
    format: 1,
    id: createRunId(project.folder),
    name,
    project,
    task,
    ...(metrics === undefined ? {} : { metrics }),
    config,
    status: 'created',
    createdAt: new Date().toISOString(),
    endedAt: null,
    plan,
    ...lostMembersAt(before, point),
    seeds: plan.map(({ rank }) => (config.identicalSeeds ? config.seed : (config.seed + rank) >>> 0)),
    blas: await blasOfResumed(before, config),
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

/** Where training goes on: a state may be one within an epoch. */
async function positionOf({ folder, record }: ForkSource, point: ForkPoint): Promise<{ epoch: number; step: number }> {
  if (point.kind === 'checkpoint') return positionAfter(point);
  const { folder: from, own } = folderOfPoint(folder, point.name);
  const round = roundOf(own);
  const states = await Promise.all(ranksOfState(record).map((rank) => readSavedRound(from, rank, round)));
  const epochs = states.map((state) => {
    if (state instanceof Error) throw state;
    return state.epoch;
  });
  return { epoch: Math.max(...epochs), step: point.step };
}

/** Checkpoints hold the weights of all members; states only of those that were not lost. */
function lostMembersAt(before: RunRecord, { kind }: ForkPoint): Pick<RunRecord, 'lostMembers'> {
  if (kind === 'checkpoint' || before.lostMembers === undefined) return {};
  return { lostMembers: before.lostMembers.map((lost) => ({ ...lost, attempt: 1 })) };
}

/** A checkpoint's weights replace those of a warm start. */
function withoutWarmStart(config: RunConfig, { kind }: ForkPoint): RunConfig {
  if (kind === 'state' || config.strategy.kind !== 'hdet' || config.strategy.warmStart === '') return config;
  return parseConfig(mergeConfig(config, { strategy: { warmStart: '', noise: 0 } }));
}
