import { join, relative } from 'node:path';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { roundPath } from '../../../core/node/saved-rounds.ts';
import type { ForkPoint } from '../../../core/protocol/history/history.ts';
import { labelsFile } from '../../../core/protocol/run/pool-task.ts';
import { checkpointRecordSchema, type RunRecord } from '../../../core/protocol/run/record.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { copyMetrics } from '../../store/metrics/metrics-rewrite.ts';
import { readCheckpointRecords } from '../../store/runs/checkpoint-records.ts';
import { runPaths } from '../../store/runs/run-folder.ts';
import { readTensorMetadata } from '../../store/runs/safetensors-reader.ts';
import { parseSavedRound, type SavedRound } from '../../store/runs/saved-rounds.ts';
import { copyOwnFile, listOwnFolder, removeOwn, writeOwnFile } from '../../../core/node/own-folders.ts';
import { folderOfPoint, ranksOfCheckpoint, ranksOfState, roundOf } from './fork-points.ts';
import { readOwnText } from '../../../core/node/own-files.ts';

/** A run that trains may replace a file while it is copied. */
const maximumAttempts = 5;

export interface SealedRecord {
  sha256: string;
  bytes: number;
}

/**
 * Copies a pair of files, a record (`.json`) and the data whose size and hash it holds, out of a run that may be
 * replacing them.
 * @param base path in the run's folder, without an extension
 * @param to the other run, and the path of the copy in it, without an extension
 * @param change makes the record of the copy
 * @returns the record that was read
 * @throws Error that names the file if it is missing, damaged, or replaced again and again
 */
export async function copySealed<R extends SealedRecord>(
  folder: string,
  base: string,
  to: { folder: string; path: string },
  parse: (text: string) => R,
  change: (record: R) => string,
): Promise<R> {
  for (let attempt = 1; attempt <= maximumAttempts; attempt += 1) {
    const record = parse(await readOwnText(folder, `${base}.json`));
    // A crash, or a writer at this moment, leaves the data of the present record under the first name.
    for (const ending of ['.safetensors.next', '.safetensors']) {
      if (!(await copyIfIntact(folder, base + ending, { ...to, path: `${to.path}.safetensors` }, record))) continue;
      await writeOwnFile(to.folder, `${to.path}.json`, change(record));
      return record;
    }
  }
  throw new Error(
    `${join(folder, base)}.safetensors is missing or damaged: it does not match the size and hash in its ` +
      '.json. Fork from another point.',
  );
}

async function copyIfIntact(
  folder: string,
  path: string,
  to: { folder: string; path: string },
  { sha256, bytes }: SealedRecord,
): Promise<boolean> {
  const copied = await unlessMissing(copyOwnFile(folder, path, to));
  if (copied?.sha256 === sha256 && copied.bytes === bytes) return true;
  await removeOwn(to.folder, to.path);
  return false;
}

/** The run that is forked. Nothing is written to its folder. */
export interface ForkSource {
  folder: string;
  record: RunRecord;
}

/** The entries of a run's folder that a fork begins with. */
const copiedEntries = ['models', 'sources', 'state', 'checkpoints', 'predictions', 'origin', 'metrics.csv', labelsFile];

/** Checkpoints that later evaluations compare with, beside the state. */
const isComparedLater = (name: string): boolean => /^(ensemble-best|member-best|top-\d+)$/.test(name);

/**
 * Copies what a fork begins with into its folder: the metrics up to the point, the models' architectures, the code that
 * it trains with if the run kept that, and the state with the best checkpoints so far, or the weights alone. After an
 * error nothing of it remains.
 */
export async function copyForFork(
  source: ForkSource,
  point: ForkPoint,
  { folder: target, sourceHash }: { folder: string; sourceHash: string | null | undefined },
): Promise<void> {
  try {
    if (sourceHash) await copyTree(source.folder, join('sources', sourceHash), target, () => Promise.resolve(true));
    await copyTree(source.folder, 'models', target, () => Promise.resolve(true));
    await copyPreprocessing(source.folder, target);
    if (source.record.labels !== undefined)
      await copyOwnFile(source.folder, labelsFile, { folder: target, path: labelsFile });
    if (point.kind === 'state') await copyState(source, point, target);
    else await copyWeights(source, point, target);
  } catch (error) {
    for (const name of copiedEntries) await removeOwn(target, name);
    throw error;
  }
}

/** What says in which order the weights have the classes. */
async function copyPreprocessing(from: string, target: string): Promise<void> {
  const name = 'preprocessing.json';
  await unlessMissing(copyOwnFile(from, name, { folder: target, path: join('origin', name) }));
}

async function copyWeights({ folder, record }: ForkSource, { name, step }: ForkPoint, target: string): Promise<void> {
  const { folder: from, own } = folderOfPoint(folder, name);
  for (const rank of ranksOfCheckpoint(record)) {
    const base = join('checkpoints', `rank-${rank}`, own);
    const copied = await copySealed(
      from,
      base,
      { folder: target, path: join('origin', `rank-${rank}`) },
      parseCheckpoint,
      toJson,
    );
    if (copied.step !== step) throw replacedMeanwhile(name);
  }
  await copyMetrics(runPaths(from).metrics, runPaths(target).metrics, { step, rows: Infinity });
}

async function copyState({ folder, record }: ForkSource, point: ForkPoint, target: string): Promise<void> {
  const { folder: from, own } = folderOfPoint(folder, point.name);
  const round = roundOf(own);
  const ranks = await ranksOfState(from, record, round);
  const states = new Map<number, SavedRound>();
  for (const rank of ranks) {
    const path = relative(from, roundPath(from, rank, round));
    // The first attempt of the fork owns the state, and its rows are counted below.
    const copy = (state: object): string => toJson({ ...state, attempt: 1, metricRows: null, recordedRows: undefined });
    states.set(rank, await copySealed(from, path, { folder: target, path }, parseSavedRound, copy));
  }
  const rows = [...states.values()].find(({ metricRows }) => metricRows !== null)?.metricRows ?? null;
  if (rows !== null) for (const rank of ranks) await copyReplaced(from, rank, target);
  await copyMetrics(runPaths(from).metrics, runPaths(target).metrics, { step: point.step, rows: rows ?? Infinity });
  await copyBest(from, states, rows !== null, target);
  await copyTree(from, join('predictions', 'validation'), target, (path) => isEarlierPrediction(from, path, point));
}

/** The best checkpoints at the time of the state. One that was replaced since is gone. */
async function copyBest(
  from: string,
  states: ReadonlyMap<number, SavedRound>,
  isWithinRound: boolean,
  target: string,
): Promise<void> {
  for (const { rank, name, step } of await readCheckpointRecords(from, () => undefined)) {
    const state = states.get(rank);
    if (state === undefined || !isComparedLater(name) || step > state.step) continue;
    const base = join('checkpoints', `rank-${rank}`, name);
    // The last evaluation of a stop is none of a run that goes on; without a copy of what it replaced, that is gone.
    const isOfStop = isWithinRound && step === state.step;
    if (isOfStop && !(await isReplacedKept(from, rank))) continue;
    await copySealed(from, base, { folder: target, path: base }, parseCheckpoint, toJson);
  }
}

async function isReplacedKept(from: string, rank: number): Promise<boolean> {
  return (await listOwnFolder(from, join('state', `rank-${rank}`))).some(({ name }) => name === 'replaced');
}

/** What the last evaluation of a stop replaced, which the ranks put back. */
async function copyReplaced(from: string, rank: number, target: string): Promise<void> {
  await copyTree(from, join('state', `rank-${rank}`, 'replaced'), target, () => Promise.resolve(true));
}

async function isEarlierPrediction(from: string, path: string, point: ForkPoint): Promise<boolean> {
  if (!/(?:best|epoch-\d+)\.safetensors$/.test(path)) return false;
  const { epoch } = await readTensorMetadata(from, path);
  return epoch !== undefined && Number(epoch) <= point.epoch;
}

/** Copies the files of a folder in a run's folder, to the same place in another one. */
export async function copyTree(
  from: string,
  entry: string,
  target: string,
  isWanted: (path: string) => Promise<boolean>,
): Promise<void> {
  const entries = await listOwnFolder(from, entry, { isDeep: true });
  for (const { path } of entries.filter(({ kind, name }) => kind === 'file' && !name.endsWith('.tmp'))) {
    if (await isWanted(path)) await copyOwnFile(from, path, { folder: target, path });
  }
}

function parseCheckpoint(text: string) {
  return checkpointRecordSchema.parse(JSON.parse(text));
}

function replacedMeanwhile(name: string): Error {
  return new Error(`The checkpoint "${name}" was replaced while it was copied, because the run trains. Fork again.`);
}
