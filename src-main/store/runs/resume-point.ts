import { join } from 'node:path';
import { roundsOf, savedRanks } from '../../../core/node/saved-rounds.ts';
import { checkRound, readSavedRound, type SavedRound } from './saved-rounds.ts';

export interface ResumePoint {
  round: number;
  /** Number of ranks that saved it; null: those that resume. */
  worldSize: number | null;
  /** The attempt that saved it. */
  attempt: number;
  /** Rows of the metrics that belong to a state within a round; null where the step tells it. */
  metricRows: number | null;
  /** Position of the rank that is furthest ahead. */
  epoch: number;
  step: number;
  /** What is wrong with the states of newer rounds, which are therefore skipped. */
  damages: string[];
}

/**
 * The position at which a run resumes: the newest round that every rank has saved and of which all states are intact.
 * Null if no round was saved by all ranks, and the run starts again.
 * @param ranks those that resume. Where their number may differ from that of the ranks that saved, the states say who
 * did
 * @throws Error if there are such rounds, but a state of each is damaged
 */
export async function findResumePoint(folder: string, ranks: readonly number[]): Promise<ResumePoint | null> {
  const damages: string[] = [];
  const [first] = ranks;
  for (const round of (await roundsOf(folder, first)).toReversed()) {
    const worldSize = await worldSizeOf(folder, first, round);
    const saving = worldSize === null ? ranks : Array.from({ length: worldSize }, (_, rank) => rank);
    if (!(await haveSaved(folder, saving, round))) continue;
    const states = await Promise.all(saving.map((rank) => checkRound(folder, rank, round)));
    const intact = states.filter(isIntact);
    if (intact.length === states.length && belongTogether(intact)) {
      return { round, worldSize, ...furthest(intact), ...rowsOf(intact), damages };
    }
    damages.push(...states.flatMap((state) => (isIntact(state) ? [] : state.message)));
  }
  if (damages.length === 0) return null;
  throw new Error(
    `Every saved state of the run in ${folder} is damaged:\n${damages.join('\n')}\nRestore one of them from a copy. ` +
      'To train the run again from its start, remove its folder state/.',
  );
}

/** The number of ranks that saved a round, where another number may resume, as one of them says; else null. */
export async function worldSizeOf(folder: string, rank: number, round: number): Promise<number | null> {
  const state = await readSavedRound(folder, rank, round);
  return (isIntact(state) ? state.worldSize : undefined) ?? null;
}

async function haveSaved(folder: string, ranks: readonly number[], round: number): Promise<boolean> {
  const rounds = await Promise.all(ranks.map((rank) => roundsOf(folder, rank)));
  return rounds.every((saved) => saved.includes(round));
}

function isIntact(state: SavedRound | Error): state is SavedRound {
  return !(state instanceof Error);
}

/** A rank that saved alone may have done so late, when another attempt had begun. */
export function belongTogether(states: readonly SavedRound[]): boolean {
  const isAnyAlone = states.some(({ isAlone }) => isAlone);
  return !isAnyAlone || new Set(states.map(({ attempt }) => attempt)).size === 1;
}

/** The first rank's state tells the rows. */
function rowsOf(states: readonly SavedRound[]): Pick<ResumePoint, 'attempt' | 'metricRows'> {
  const { attempt, metricRows } = states.find((state) => state.metricRows !== null) ?? states[0];
  return { attempt, metricRows };
}

function furthest(states: readonly SavedRound[]): { epoch: number; step: number } {
  const [epoch, step] = (['epoch', 'step'] as const).map((key) => Math.max(...states.map((state) => state[key])));
  return { epoch, step };
}

/** The least number of rows that `metrics.csv` had when the newest states were saved; 0 where they do not tell. */
export async function rowsKnownToStates(folder: string): Promise<number> {
  const ranks = await savedRanks(folder);
  const states = ranks.map(async (rank) => {
    const newest = (await roundsOf(folder, rank)).at(-1);
    const state = newest === undefined ? null : await readSavedRound(folder, rank, newest);
    return state === null || state instanceof Error ? 0 : (state.metricRows ?? state.recordedRows ?? 0);
  });
  return Math.max(0, ...(await Promise.all(states)));
}

/** Says that `metrics.csv` lacks rows; null where it has as many as are known. */
export function whyRowsAreLost(folder: string, rows: number, known: number): string | null {
  if (rows >= known) return null;
  return (
    `${join(folder, 'metrics.csv')} holds ${rows} of at least ${known} rows: it was cut, emptied or replaced, so ` +
    'charts lack points. Restore it from a copy. A resume puts back what the saved states and earlier copies hold.'
  );
}
