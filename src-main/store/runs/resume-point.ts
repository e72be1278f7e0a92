import { roundsOf } from '../../../core/node/saved-rounds.ts';
import { checkRound, type SavedRound } from './saved-rounds.ts';

export interface ResumePoint {
  round: number;
  /** The attempt that saved it; undefined for states of earlier versions. */
  attempt: number | undefined;
  /** Rows of the metrics that belong to a state within a round; null where the step tells it. */
  metricRows: number | null;
  /** Position of the rank that is furthest ahead. */
  epoch: number;
  step: number;
  /** What is wrong with the states of newer rounds, which are therefore skipped. */
  damages: string[];
}

/**
 * The position at which a run resumes: the newest round that every rank has saved and of which all states are intact. Null if no round was
 * saved by all ranks, and the run starts again.
 * @throws Error if there are such rounds, but a state of each is damaged
 */
export async function findResumePoint(folder: string, ranks: readonly number[]): Promise<ResumePoint | null> {
  const damages: string[] = [];
  for (const round of await commonRounds(folder, ranks)) {
    const states = await Promise.all(ranks.map((rank) => checkRound(folder, rank, round)));
    const intact = states.filter(isIntact);
    if (intact.length === states.length && belongTogether(intact)) {
      return { round, ...furthest(intact), ...rowsOf(intact), damages };
    }
    damages.push(...states.flatMap((state) => (isIntact(state) ? [] : state.message)));
  }
  if (damages.length === 0) return null;
  throw new Error(
    `Every saved state of the run in ${folder} is damaged:\n${damages.join('\n')}\nRestore one of them from a copy. ` +
      'To train the run again from its start, remove its folder state/.',
  );
}

function isIntact(state: SavedRound | Error): state is SavedRound {
  return !(state instanceof Error);
}

/** A rank that saved alone may have done so late, when another attempt had begun. */
export function belongTogether(states: readonly SavedRound[]): boolean {
  const isAnyAlone = states.some(({ isAlone }) => isAlone);
  return !isAnyAlone || new Set(states.map(({ attempt }) => attempt)).size === 1;
}

/** The rounds that all ranks have saved, the newest first. */
async function commonRounds(folder: string, ranks: readonly number[]): Promise<number[]> {
  const [first, ...others] = await Promise.all(ranks.map(async (rank) => new Set(await roundsOf(folder, rank))));
  const common = [...(first ?? [])].filter((round) => others.every((rounds) => rounds.has(round)));
  return common.sort((a, b) => b - a);
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
