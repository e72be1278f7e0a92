import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../../../core/node/file-error.ts';

/** The fields of `state/rank-<r>/round-<n>.json` (written by the workers) that a resume needs. */
const savedRoundSchema = z.looseObject({ round: z.int(), epoch: z.int(), step: z.int() });

export interface ResumePoint {
  round: number;
  /** Position of the rank that is furthest ahead. */
  epoch: number;
  step: number;
}

/** The position at which a run resumes: the newest round that every rank has saved. Null if there is none and the run starts again. */
export async function findResumePoint(folder: string, ranks: readonly number[]): Promise<ResumePoint | null> {
  const saved = await Promise.all(ranks.map((rank) => savedRounds(join(folder, 'state', `rank-${rank}`))));
  const rounds = [...(saved[0]?.keys() ?? [])].sort((a, b) => b - a);
  const round = rounds.find((candidate) => saved.every((rankRounds) => rankRounds.has(candidate)));
  if (round === undefined) return null;
  const positions = saved.flatMap((rankRounds) => rankRounds.get(round) ?? []);
  const [epoch, step] = (['epoch', 'step'] as const).map((key) => Math.max(...positions.map((at) => at[key])));
  return { round, epoch, step };
}

/** By round. */
async function savedRounds(stateFolder: string): Promise<Map<number, ResumePoint>> {
  const rounds = new Map<number, ResumePoint>();
  for (const name of await namesIn(stateFolder)) {
    if (!name.endsWith('.json')) continue;
    const { round, epoch, step } = await readRound(join(stateFolder, name));
    rounds.set(round, { round, epoch, step });
  }
  return rounds;
}

async function readRound(path: string): Promise<z.output<typeof savedRoundSchema>> {
  try {
    return savedRoundSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    throw new Error(
      `${path} is damaged: it does not name the saved round and step. Restore it from a copy, or remove it together with its ` +
        '.safetensors to continue from the round before.',
      { cause: error },
    );
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
