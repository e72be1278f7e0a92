import { join, relative } from 'node:path';
import { asError } from '../../../core/text/errors.ts';
import { z } from 'zod';
import { listOwnFolder } from '../../../core/node/own-folders.ts';
import { roundPath, roundsOf } from '../../../core/node/saved-rounds.ts';
import type { ForkPoint } from '../../../core/protocol/history/history.ts';
import { lostRanksOf } from '../../../core/protocol/run/lost-members.ts';
import type { CheckpointRecord, RunOrigin, RunRecord } from '../../../core/protocol/run/record.ts';
import { type RunSettings, runSettingsSchema } from '../../../core/protocol/run/settings.ts';
import { memberCountOf } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { readCheckpointRecords } from '../../store/runs/checkpoint-records.ts';
import { keptAttemptFolder } from '../../store/runs/kept-attempt.ts';
import { readTensorMetadata } from '../../store/runs/safetensors-reader.ts';
import { belongTogether, worldSizeOf } from '../../store/runs/resume-point.ts';
import { readSavedRound, type SavedRound } from '../../store/runs/saved-rounds.ts';

/** What a state says beside its tensors. */
const stateDataSchema = z.object({
  progress: z.object({ epoch: z.int(), batch: z.int() }),
  settings: runSettingsSchema,
});

/** Ranks whose states of a round a fork of the run needs: all that saved it, or all that are not missing. */
export async function ranksOfState(folder: string, record: RunRecord, round: number): Promise<number[]> {
  const worldSize = await worldSizeOf(folder, 0, round);
  if (worldSize !== null) return Array.from({ length: worldSize }, (_, rank) => rank);
  const lost = lostRanksOf(record);
  return record.plan.map(({ rank }) => rank).filter((rank) => !lost.includes(rank));
}

/** Ranks whose checkpoints a fork of the run needs: all members. */
export function ranksOfCheckpoint({ config }: Pick<RunRecord, 'config'>): number[] {
  return Array.from({ length: memberCountOf(config) }, (_, rank) => rank);
}

/** The folder with a point's files: the run's, or that of a kept attempt. */
export function folderOfPoint(folder: string, name: string): { folder: string; own: string } {
  const [, attempt, own] = /^attempt-(\d+)\/(.+)$/.exec(name) ?? [];
  return attempt === undefined ? { folder, own: name } : { folder: keptAttemptFolder(folder, Number(attempt)), own };
}

/** The round of a state's name, `round-40`. */
export function roundOf(name: string): number {
  return Number(name.replace('round-', ''));
}

/**
 * The points at which a fork of a run can begin, by step: states that all ranks share, then checkpoints that all
 * members saved at the same step. A run in waves has no common states. What cannot be read is left out.
 * @param onDamage called with the error of each
 */
export async function readForkPoints(
  folder: string,
  record: RunRecord,
  onDamage: (damage: Error) => void = () => undefined,
): Promise<ForkPoint[]> {
  const own = await pointsIn(folder, '', record, onDamage);
  const seen = new Set(own.map(keyOf));
  const kept = await listOwnFolder(folder, 'attempts');
  const earlier = kept
    .filter(({ name, kind }) => kind === 'folder' && /^\d+$/.test(name))
    .map(({ name }) => pointsIn(keptAttemptFolder(folder, Number(name)), `attempt-${name}/`, record, onDamage));
  const others = (await Promise.all(earlier)).flat().filter((point) => !seen.has(keyOf(point)));
  return [...own, ...others].toSorted((a, b) => a.step - b.step || (a.name < b.name ? -1 : 1));
}

/** A file that a run kept and did not replace since has two names. */
function keyOf({ name, savedAt }: ForkPoint): string {
  return `${name.split('/').at(-1)} ${savedAt}`;
}

async function pointsIn(
  folder: string,
  prefix: string,
  record: RunRecord,
  onDamage: (damage: Error) => void,
): Promise<ForkPoint[]> {
  const points = [
    ...(await statePoints(folder, record, onDamage)),
    ...(await checkpointPoints(folder, record, onDamage)),
  ];
  return points.map((point) => ({ ...point, name: prefix + point.name }));
}

async function statePoints(folder: string, record: RunRecord, onDamage: (damage: Error) => void): Promise<ForkPoint[]> {
  if (new Set(record.plan.map(({ wave }) => wave)).size > 1) return [];
  const present = record.plan.find(({ rank }) => !lostRanksOf(record).includes(rank));
  const rounds = present === undefined ? [] : await roundsOf(folder, present.rank);
  const points = rounds.map(async (round): Promise<ForkPoint[]> => {
    const [first, ...others] = await ranksOfState(folder, record, round);
    const states = await Promise.all([first, ...others].map((rank) => readSavedRound(folder, rank, round)));
    const whole = states.filter((state): state is SavedRound => !(state instanceof Error));
    const data = await stateData(folder, first, round);
    for (const found of [...states, data]) if (found instanceof Error) onDamage(found);
    if (whole.length < states.length || data instanceof Error || !belongTogether(whole)) return [];
    const step = Math.max(...whole.map((state) => state.step));
    const { attempt, savedAt } = whole[0];
    return [{ name: `round-${round}`, kind: 'state', attempt, epoch: data.epoch, step, savedAt }];
  });
  return (await Promise.all(points)).flat();
}

/** What the state of a rank says: the epoch of its last step, and its settings; null where it cannot be read. */
export async function readStateData(
  folder: string,
  rank: number,
  round: number,
): Promise<{ epoch: number; settings: RunSettings } | null> {
  const data = await stateData(folder, rank, round);
  return data instanceof Error ? null : data;
}

async function stateData(
  folder: string,
  rank: number,
  round: number,
): Promise<{ epoch: number; settings: RunSettings } | Error> {
  const path = relative(folder, `${roundPath(folder, rank, round)}.safetensors`);
  const metadata = await readTensorMetadata(folder, path).catch(asError);
  if (metadata instanceof Error) return metadata;
  const parsed = stateDataSchema.safeParse(parseJson(metadata.data));
  if (!parsed.success) return new Error(`${join(folder, path)} is damaged: it does not say what the rank trained.`);
  const { progress, settings } = parsed.data;
  return { epoch: progress.batch > 0 ? progress.epoch : Math.max(0, progress.epoch - 1), settings };
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    // Its size and hash tell what is wrong with it when somebody forks from it.
    return null;
  }
}

async function checkpointPoints(
  folder: string,
  record: RunRecord,
  onDamage: (damage: Error) => void,
): Promise<ForkPoint[]> {
  const records = await readCheckpointRecords(folder, onDamage);
  const ranks = ranksOfCheckpoint(record);
  return [...Map.groupBy(records, ({ name }) => name)].flatMap(([name, same]): ForkPoint[] => {
    const [first] = same;
    const isCommon = ranks.every((rank) => same.some((one) => one.rank === rank && isAtOnce(one, first)));
    if (!isCommon) return [];
    const { epoch, step, savedAt } = first;
    return [{ name, kind: 'checkpoint', attempt: attemptAt(record, savedAt), epoch, step, savedAt }];
  });
}

function isAtOnce(one: CheckpointRecord, other: CheckpointRecord): boolean {
  return one.epoch === other.epoch && one.step === other.step;
}

/** The attempt that trained at a time. */
function attemptAt({ attempts }: RunRecord, time: string): number {
  const begun = attempts.filter(({ startedAt }) => Date.parse(startedAt) <= Date.parse(time));
  return begun.at(-1)?.attempt ?? 1;
}

type Forked = Pick<RunRecord, 'id' | 'origin' | 'attempts'>;

/** The position at which training goes on after a checkpoint: weights alone cannot continue within an epoch. */
export function positionAfter({ epoch, step }: Pick<RunOrigin, 'epoch' | 'step'>): { epoch: number; step: number } {
  return { epoch: epoch + 1, step };
}

/** The position at which a run that has saved no state yet starts. */
export function startOfRun(record: Forked): { epoch: number; step: number } {
  return forkedAt(record) ?? { epoch: 0, step: 0 };
}

/** The position after the checkpoint that gives the ranks of a forked run their first weights; null for other runs. */
export function forkedAt({ origin }: Forked): { epoch: number; step: number } | null {
  return origin?.kind === 'checkpoint' ? positionAfter(origin) : null;
}

/** @throws Error for a fork of a state, which cannot start without one */
export function refuseWithoutState({ id, origin }: Forked): void {
  if (origin?.kind !== 'state') return;
  throw new Error(
    `The run ${id} is a fork of the state ${origin.point} of ${origin.run}, and its copy in the folder state/ is ` +
      `missing. Restore it from a copy, or fork again: tutti fork ${origin.run}`,
  );
}
