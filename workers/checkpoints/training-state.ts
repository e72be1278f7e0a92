import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from '../../core/safetensors/safetensors.ts';
import { readSealed, removeSealed, sealOf, writeSealed } from './sealed-file.ts';

/**
 * What a rank needs to go on exactly where it was: weights, optimizer slots, and the state of generators and samplers, at
 * `<run>/state/rank-<r>/round-<n>.safetensors` and `.json`.
 *
 * Ranks save the same rounds, and meet between two of them (at an evaluation), so that a crash finds them at most one round
 * apart. Each keeps its newest two: whichever was interrupted, all still share one.
 */

const KEPT_ROUNDS = 2;
const DATA_KEY = 'data';

const stateRecordSchema = z.strictObject({
  format: z.literal(1),
  rank: z.int().min(0),
  round: z.int().min(0),
  epoch: z.int(),
  step: z.int(),
  sha256: z.string().length(64),
  bytes: z.int(),
  savedAt: z.iso.datetime(),
});
type StateRecord = z.output<typeof stateRecordSchema>;

export interface TrainingState {
  /** Number of the save, growing from one to the next, the same on all ranks. */
  round: number;
  epoch: number;
  step: number;
  tensors: readonly NamedTensor[];
  /**
   * Anything that JSON can hold. It is kept inside the hashed file. NaN and infinities come back as `realNumber` of
   * `core/protocol/wire/numbers.ts` reads them: parse what was loaded with a schema.
   */
  data: unknown;
}

/**
 * Saves a rank's state, then drops all but the newest two rounds.
 *
 * @throws naming path, bytes and remedy (disk full, no permission); the rounds saved before stay readable.
 */
export async function saveState(runFolder: string, rank: number, state: TrainingState): Promise<void> {
  const { tensors, data, ...position } = state;
  const content = encodeSafetensors(tensors, { [DATA_KEY]: toJson(data) });
  const savedAt = new Date().toISOString();
  const record: StateRecord = { format: 1, rank, ...position, ...sealOf(content), savedAt };
  await writeSealed(basePath(runFolder, rank, state.round), content, record);
  const superseded = (await roundsOf(runFolder, rank)).slice(0, -KEPT_ROUNDS);
  await removeRounds(runFolder, rank, superseded);
}

/** The newest round that every one of `ranks` has saved, from which they can resume together; null without one. */
export async function latestCommonRound(runFolder: string, ranks: readonly number[]): Promise<number | null> {
  const roundsByRank = await Promise.all(ranks.map(async (rank) => new Set(await roundsOf(runFolder, rank))));
  const [first = new Set<number>(), ...others] = roundsByRank;
  const common = [...first].filter((round) => others.every((rounds) => rounds.has(round)));
  return common.length > 0 ? Math.max(...common) : null;
}

/**
 * Loads a rank's state to resume from, after checking its size and SHA-256, and removes the rank's later rounds: they belong
 * to an attempt that not every rank finished, and would push out rounds of the resumed one.
 *
 * @throws naming the file when it is missing, damaged or changed, with the remedy.
 */
export async function loadState(runFolder: string, rank: number, round: number): Promise<TrainingState> {
  const { record, content } = await readSealed(basePath(runFolder, rank, round), stateRecordSchema);
  const { tensors, metadata } = decodeSafetensors(content);
  const later = (await roundsOf(runFolder, rank)).filter((saved) => saved > round);
  await removeRounds(runFolder, rank, later);
  const data: unknown = JSON.parse(metadata[DATA_KEY] ?? 'null');
  return { round, epoch: record.epoch, step: record.step, tensors, data };
}

/** Rounds whose record is there, oldest first. */
async function roundsOf(runFolder: string, rank: number): Promise<number[]> {
  const files = (await unlessMissing(readdir(rankFolder(runFolder, rank)))) ?? [];
  const matches = files.map((file) => /^round-(\d+)\.json$/.exec(file));
  return matches.flatMap((match) => (match === null ? [] : [Number(match[1])])).sort((a, b) => a - b);
}

async function removeRounds(runFolder: string, rank: number, rounds: readonly number[]): Promise<void> {
  for (const round of rounds) await removeSealed(basePath(runFolder, rank, round));
}

function basePath(runFolder: string, rank: number, round: number): string {
  return join(rankFolder(runFolder, rank), `round-${round}`);
}

function rankFolder(runFolder: string, rank: number): string {
  return join(runFolder, 'state', `rank-${rank}`);
}
