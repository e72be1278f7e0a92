import { z } from 'zod';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { roundPath, roundsOf, savedRanks } from '../../core/node/saved-rounds.ts';
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from '../../core/safetensors/safetensors.ts';
import { sealOf } from './seal.ts';
import { readSealed, removeSealed, writeSealed, writeSealedIf } from './sealed-file.ts';

/**
 * The state from which a rank resumes exactly: weights, optimizer slots, and the state of generators and samplers, at
 * `<run>/state/rank-<r>/round-<n>.safetensors` and `.json`.
 *
 * Ranks save the same rounds, and meet between two of them (at an evaluation), so that a crash finds them at most one
 * round apart. Each keeps its newest two rounds: all ranks share at least one of them.
 */

const KEPT_ROUNDS = 2;
const DATA_KEY = 'data';

const stateRecordSchema = z.looseObject({
  format: z.literal(1),
  rank: z.int().min(0),
  round: z.int().min(0),
  epoch: z.int(),
  step: z.int(),
  attempt: z.int().min(1),
  metricRows: z.int().nullable(),
  /** Absent where the rank did not ask. */
  recordedRows: z.int().min(0).optional(),
  isAlone: z.boolean(),
  /** Only where another number of ranks may resume. */
  worldSize: z.int().min(1).optional(),
  sha256: z.string().length(64),
  bytes: z.int(),
  savedAt: z.iso.datetime(),
});
type StateRecord = z.output<typeof stateRecordSchema>;

export interface TrainingState {
  /** Number of the save, which grows, the same on all ranks. */
  round: number;
  epoch: number;
  step: number;
  /** The attempt that saved it. */
  attempt: number;
  /** Rows of the metrics that belong to the state, where ranks saved it within a round; else null. */
  metricRows: number | null;
  /**
   * Rows of the metrics that were on the disk before an evaluation's state was saved; undefined where the rank did not
   * ask.
   */
  recordedRows?: number | undefined;
  /** Number of ranks that saved it; undefined where as many resume. */
  worldSize?: number | undefined;
  tensors: readonly NamedTensor[];
  /**
   * Any JSON value, saved inside the hashed file. Parse loaded data with a schema: `realNumber` of
   * `core/protocol/wire/numbers.ts` reads NaN and infinities.
   */
  data: unknown;
}

/**
 * Saves a rank's state, then removes all but the newest two rounds.
 *
 * @throws with path, bytes and remedy (disk full, no permission); the previous rounds stay readable.
 */
export async function saveState(runFolder: string, rank: number, state: TrainingState): Promise<void> {
  const { base, content, record } = sealed(runFolder, rank, { ...state, isAlone: false });
  await writeSealed(base, content, record);
  const rounds = await roundsOf(runFolder, rank);
  await removeRounds(runFolder, rank, rounds.slice(0, -KEPT_ROUNDS));
  if (rank !== 0 || state.worldSize === undefined) return;
  const [oldest] = rounds.slice(-KEPT_ROUNDS);
  // States of ranks that only an earlier attempt had.
  for (const other of await savedRanks(runFolder)) {
    if (other < state.worldSize) continue;
    const outdated = (await roundsOf(runFolder, other)).filter((round) => round < oldest);
    await removeRounds(runFolder, other, outdated);
  }
}

/**
 * Saves the state of a rank whose hub has died. It removes no earlier round, because other ranks may not succeed.
 * @param mayPublish whether no other hub has taken over the run
 */
export async function saveStateAlone(
  runFolder: string,
  rank: number,
  state: TrainingState,
  mayPublish: () => Promise<boolean>,
): Promise<void> {
  const { base, content, record } = sealed(runFolder, rank, { ...state, isAlone: true });
  await writeSealedIf(base, content, record, mayPublish);
}

function sealed(runFolder: string, rank: number, state: TrainingState & { isAlone: boolean }) {
  const { tensors, data, ...position } = state;
  const content = encodeSafetensors(tensors, { [DATA_KEY]: toJson(data) });
  const savedAt = new Date().toISOString();
  const record: StateRecord = { format: 1, rank, ...position, ...sealOf(content), savedAt };
  return { base: roundPath(runFolder, rank, state.round), content, record };
}

/**
 * Loads a rank's state for a resume, after checking its size and SHA-256, and removes the rank's later rounds: not
 * every rank has them, and they would displace rounds of the resumed run.
 *
 * @throws with file and remedy when it is missing, damaged or changed
 */
export async function loadState(runFolder: string, rank: number, round: number): Promise<TrainingState> {
  const state = await readState(runFolder, rank, round);
  const later = (await roundsOf(runFolder, rank)).filter((saved) => saved > round);
  await removeRounds(runFolder, rank, later);
  return state;
}

/**
 * Removes the states of a rank that starts from the beginning, because another rank has none of their rounds. They
 * would displace the rounds to come.
 */
export async function removeStates(runFolder: string, rank: number): Promise<void> {
  await removeRounds(runFolder, rank, await roundsOf(runFolder, rank));
}

/**
 * Reads a rank's state after checking its size and SHA-256.
 * @throws with file and remedy when it is missing, damaged or changed
 */
export async function readState(runFolder: string, rank: number, round: number): Promise<TrainingState> {
  const { record, content } = await readSealed(roundPath(runFolder, rank, round), stateRecordSchema);
  const { tensors, metadata } = decodeSafetensors(content);
  const data: unknown = JSON.parse(metadata[DATA_KEY] ?? 'null');
  const { epoch, step, attempt, metricRows, worldSize } = record;
  return { round, epoch, step, attempt, metricRows, worldSize, tensors, data };
}

async function removeRounds(runFolder: string, rank: number, rounds: readonly number[]): Promise<void> {
  for (const round of rounds) await removeSealed(roundPath(runFolder, rank, round));
}
