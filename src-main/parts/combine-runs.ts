import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../core/node/make-folder.ts';
import type { Combined, CombineReply, CombineTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { PartMethod, Parts, PartSource } from '../../core/protocol/run/parts.ts';
import { type RunConfig, runConfigSchema } from '../../core/protocol/run/config.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { isUsable } from '../backends/choose-blas.ts';
import { learnedBy } from '../hub/new-record.ts';
import { createRunId } from '../hub/plan-run.ts';
import { askProcess } from '../processes/standing-process.ts';
import { combineEntry } from '../processes/node-process.ts';
import { sourceOfRun } from '../runs/configuration/run-source.ts';
import { homePaths } from '../store/home.ts';
import { writeRunRecord } from '../store/runs/run-folder.ts';
import { grantFor } from '../trust/grant.ts';
import { type CandidateChoice, type CandidateRecord, candidatesOf, type PartsRun } from './choose-candidates.ts';
import { existsSync } from 'node:fs';
import { unlessMissing } from '../../core/node/file-error.ts';
import { type Preprocessing, preprocessingSchema } from '../../core/preprocessing/schema.ts';
import { copyTree } from '../runs/fork/copy-run.ts';
import { formatHeader, formatNumber, formatRow } from '../store/metrics/metrics-csv.ts';
import { readOwnText } from '../../core/node/own-files.ts';
import { copyOwnFile, writeOwnFile } from '../../core/node/own-folders.ts';

const preprocessing = 'preprocessing.json';

/**
 * Refuses runs whose members cannot predict together. Whether they have the same targets, the process that predicts
 * tells.
 * @throws Error that names the run
 */
export async function requireSameKind(runs: readonly PartsRun[]): Promise<void> {
  const [first, ...others] = runs;
  const common = await preprocessingOf(first);
  for (const run of others) {
    const { id, task, outputs } = run.record;
    const differs =
      task !== first.record.task
        ? `has the task ${task}, the run ${first.record.id} ${first.record.task}`
        : JSON.stringify(outputs) !== JSON.stringify(first.record.outputs)
          ? `has other further outputs than the run ${first.record.id}`
          : differenceBetween(await preprocessingOf(run), common, first.record.id);
    if (differs === null) continue;
    throw new Error(`The run ${id} ${differs}. Members of one ensemble need the same: leave out one of the two runs.`);
  }
}

/** Null if nothing was fitted. */
async function preprocessingOf({ folder }: PartsRun): Promise<Preprocessing | null> {
  const text = await unlessMissing(readOwnText(folder, preprocessing));
  return text === null ? null : preprocessingSchema.parse(JSON.parse(text));
}

function differenceBetween(own: Preprocessing | null, first: Preprocessing | null, id: string): string | null {
  if (JSON.stringify(own) === JSON.stringify(first)) return null;
  const inputsOf = ({ steps, extraInputs }: Preprocessing): string => JSON.stringify([steps, extraInputs]);
  if (own === null || first === null || inputsOf(own) !== inputsOf(first))
    return `prepares its inputs differently from the run ${id} (${preprocessing})`;
  const [classes, others] = [own.target, first.target].map((target) =>
    target?.kind === 'classes' ? target.classNames : [],
  );
  if (JSON.stringify(classes) === JSON.stringify(others)) {
    return `has other targets, or in another unit, than the run ${id} (${preprocessing})`;
  }
  const isOrder = JSON.stringify(classes.toSorted()) === JSON.stringify(others.toSorted());
  const list = `${classes.slice(0, 5).join(', ')} against ${others.slice(0, 5).join(', ')}`;
  return `has ${isOrder ? 'its classes in another order' : 'other classes'} than the run ${id} (${list})`;
}

/** Copies what all members share: the preprocessing, and the code that the first run kept. */
async function copyShared({ folder, record }: PartsRun, target: string): Promise<void> {
  if (existsSync(join(folder, preprocessing)))
    await copyOwnFile(folder, preprocessing, { folder: target, path: preprocessing });
  const hash = record.attempts.at(-1)?.sourceHash;
  if (hash) await copyTree(folder, join('sources', hash), target, () => Promise.resolve(true));
}

/** Writes the metrics on the validation split as the only row of `metrics.csv`. */
async function writeMetrics(
  folder: string,
  { validation }: Pick<Combined, 'validation'>,
  { epoch, step }: { epoch: number; step: number },
): Promise<void> {
  const row = formatRow(epoch, step, Object.values(validation).map(formatNumber));
  await writeOwnFile(folder, 'metrics.csv', `${formatHeader(Object.keys(validation))}${row}`);
}

/** Time to read the data, including a download, and to predict with every candidate. */
const timeoutMs = 3_600_000;

export interface CombineRequest extends CandidateChoice {
  method: PartMethod;
  /** Name of the new run. */
  name: string;
  /** Most choices of the greedy selection. */
  rounds: number;
  /** The tolerance of the smallest subset, in the unit of the criterion. */
  tolerance: number;
  /** Members to draw for each member or checkpoint, with SWAG and MC dropout. */
  samples: number;
  /** Most deviations of weights that SWAG keeps. */
  deviations: number;
  signal?: AbortSignal | undefined;
}

/** A new run that was made from checkpoints. */
export interface CombinedRun {
  record: RunRecord;
  folder: string;
  /** The checkpoints that members were chosen from. */
  candidates: PartSource[];
  combined: Combined;
}

type Candidate = CandidateRecord & { run: number };

/**
 * Makes an ensemble from checkpoints of runs: a finished run in Tutti's home with copies of the chosen members. The
 * runs stay as they are. After an error nothing of it remains.
 *
 * @throws Error if the runs differ in task, preprocessing or validation targets, a checkpoint is missing or damaged, or
 * a project is not trusted
 */
export async function combineRuns(runs: readonly PartsRun[], request: CombineRequest): Promise<CombinedRun> {
  await requireSameKind(runs);
  const lists = await Promise.all(runs.map((run) => candidatesOf(run, request)));
  const candidates = lists.flatMap((list, run) => list.map((candidate) => ({ ...candidate, run })));
  const [{ record: first }] = runs;
  const id = createRunId(first.project.folder);
  const folder = join(homePaths().runs, id);
  await makeFolder(folder);
  try {
    const combined = await ask(runs, candidates, request, folder);
    const sources = candidates.map((candidate) => sourceOf(runs[candidate.run], candidate));
    const seeds = candidates.map(({ run, rank }) => runs[run].record.seeds[rank]);
    const record = recordOf(first, { id, name: request.name, method: request.method, combined, sources, seeds });
    await copyShared(runs[0], folder);
    await writeMetrics(folder, combined, lastPosition(combined));
    // Last, because it makes the folder a run.
    await writeRunRecord(folder, record);
    return { record, folder, candidates: sources, combined };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function ask(
  runs: readonly PartsRun[],
  candidates: readonly Candidate[],
  { method, rounds, tolerance, samples, deviations, signal }: CombineRequest,
  into: string,
): Promise<Combined> {
  const [{ record: first }] = runs;
  const { blas, plan } = first;
  const [{ device }] = plan;
  const task: CombineTask = {
    runs: await Promise.all(runs.map(runSourceOf)),
    candidates: candidates.map(({ run, rank, name }) => ({ run, rank, name })),
    method,
    rounds,
    tolerance,
    samples,
    deviations,
    set: 'ensemble-best',
    into,
    blas: blas !== null && (await isUsable(blas)) ? blas : null,
  };
  const read = runs.flatMap(({ folder, record }) => [folder, record.project.folder]);
  const reply = await askProcess<CombineReply>({
    entry: combineEntry,
    args: [],
    message: task,
    timeoutMs,
    grant: grantFor({ project: first.project.folder, read, write: [into], device }),
    device,
    ...(signal && { signal }),
    subject: `The ensemble from ${candidates.length} checkpoints has no result`,
  });
  if (reply.type === 'failed') throw new Error(reply.message);
  return reply.combined;
}

async function runSourceOf({ folder, record }: PartsRun): Promise<CombineTask['runs'][number]> {
  const { id, config } = record;
  return { id, ...(await sourceOfRun(folder, record)), config: independent(config, config.members) };
}

/** Members from several runs were not trained jointly, so they predict by the mean of their probabilities. */
function independent(config: RunConfig, members: number): RunConfig {
  return runConfigSchema.parse({ ...config, members, strategy: { kind: 'independent' } });
}

function sourceOf({ folder, record }: PartsRun, { rank, name, epoch, step }: Candidate): PartSource {
  return { run: record.id, name: record.name, folder, rank, checkpoint: name, epoch, step };
}

function lastPosition({ members, positions }: Combined): { epoch: number; step: number } {
  const used = members.flat().map((candidate) => positions[candidate]);
  return { epoch: Math.max(...used.map(({ epoch }) => epoch)), step: Math.max(...used.map(({ step }) => step)) };
}

interface NewRun {
  id: string;
  name: string;
  method: PartMethod;
  combined: Combined;
  sources: readonly PartSource[];
  /** The seed of each candidate's rank. */
  seeds: readonly number[];
}

/** The candidates that became members, and which member each belongs to. */
function partsOf(method: PartMethod, members: readonly number[][], candidates: readonly PartSource[]): Parts {
  const used = [...new Set(members.flat())].sort((a, b) => a - b);
  const sources = used.map((candidate) => candidates[candidate]);
  return { method, sources, members: members.map((own) => own.map((candidate) => used.indexOf(candidate))) };
}

/** A finished run that has not trained itself. */
function recordOf(first: RunRecord, { id, name, method, combined, sources, seeds }: NewRun): RunRecord {
  const { blas, versions, gitCommit, attempts, plan } = first;
  const { members, validation, monitor, evaluated } = combined;
  const config = independent(first.config, members.length);
  const now = new Date().toISOString();
  const position = lastPosition(combined);
  const { sourceHash = null } = attempts.at(-1) ?? {};
  const isMonitored = Object.hasOwn(validation, monitor);
  return {
    format: 1,
    id,
    name,
    ...learnedBy(first),
    config,
    status: 'finished',
    createdAt: now,
    endedAt: now,
    plan: members.map((_, rank) => ({ rank, wave: 0, device: plan[0].device })),
    seeds: members.map(([candidate]) => seeds[candidate]),
    blas,
    versions,
    gitCommit,
    attempts: [{ attempt: 1, startedAt: now, endedAt: now, status: 'finished', kind: 'start', sourceHash, gitCommit }],
    parts: partsOf(method, members, sources),
    hub: null,
    error: null,
    summary: {
      attempt: 1,
      epochs: position.epoch + 1,
      steps: position.step,
      stopReason: 'completed',
      metrics: validation,
      best: isMonitored ? { metric: monitor, value: validation[monitor], ...position } : null,
      evaluatedSets: [evaluated],
    },
  };
}
