import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from './file-error.ts';

/** The path of a rank's saved state without its extensions: `.safetensors` and `.json`. */
export function roundPath(runFolder: string, rank: number, round: number): string {
  return join(stateFolder(runFolder, rank), `round-${round}`);
}

/** The rounds of which a rank has a record, whole or not, oldest first. */
export async function roundsOf(runFolder: string, rank: number): Promise<number[]> {
  const names = (await unlessMissing(readdir(stateFolder(runFolder, rank)))) ?? [];
  const rounds = names.flatMap((name) => /^round-(\d+)\.json$/.exec(name)?.[1] ?? []).map(Number);
  return rounds.sort((a, b) => a - b);
}

/** The ranks that have saved states. */
export async function savedRanks(runFolder: string): Promise<number[]> {
  const names = (await unlessMissing(readdir(join(runFolder, 'state')))) ?? [];
  return names.flatMap((name) => /^rank-(\d+)$/.exec(name)?.[1] ?? []).map(Number);
}

function stateFolder(runFolder: string, rank: number): string {
  return join(runFolder, 'state', `rank-${rank}`);
}
