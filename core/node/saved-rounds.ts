import { join } from 'node:path';
import { listOwnFolder } from './own-folders.ts';

/** The path of a rank's saved state without its extensions: `.safetensors` and `.json`. */
export function roundPath(runFolder: string, rank: number, round: number): string {
  return join(runFolder, stateOf(rank), `round-${round}`);
}

/** The rounds of which a rank has a record, whole or not, oldest first. */
export async function roundsOf(runFolder: string, rank: number): Promise<number[]> {
  const entries = await listOwnFolder(runFolder, stateOf(rank));
  const rounds = entries.flatMap(({ name }) => /^round-(\d+)\.json$/.exec(name)?.[1] ?? []).map(Number);
  return rounds.sort((a, b) => a - b);
}

/** The ranks that have saved states. */
export async function savedRanks(runFolder: string): Promise<number[]> {
  const entries = await listOwnFolder(runFolder, 'state');
  return entries.flatMap(({ name }) => /^rank-(\d+)$/.exec(name)?.[1] ?? []).map(Number);
}

function stateOf(rank: number): string {
  return join('state', `rank-${rank}`);
}
