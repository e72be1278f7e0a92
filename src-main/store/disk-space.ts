import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { formatBytes } from '../../core/text/numbers.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { optimizerSlots } from '../../core/protocol/run/optimizer-config.ts';
import { type MemberCount, memberCountOf } from '../../core/protocol/run/strategies/ranks-and-members.ts';
import { readFreeBytes } from '../../core/node/disk-room.ts';
import { FileError, unlessMissing } from '../../core/node/file-error.ts';
import { listOwnFolder } from '../../core/node/own-folders.ts';
import { splitsLayers, splitsState } from '../../core/protocol/run/strategies/strategy-rules.ts';

const BYTES_PER_PARAMETER = 4;
/** A rank keeps its two newest states, and removes the older one only once the third is complete. */
const STATES_AT_ONCE = 3;
/** Metrics, events, logs, predictions and plots of a run. */
const SMALL_FILES_BYTES = 16 * 1024 ** 2;

/**
 * The maximum disk space of a run, in bytes, with P parameters, M members and R ranks: `(M C + 3 N) W + 16 MiB`, where
 * `W = 4 P` is the size of the weights, `C` the number of checkpoints kept per member (as the options of the retention
 * allow), and `N` what the states of all ranks hold, in copies of the weights ({@link stateCopies}). A checkpoint and a
 * third state are never written at the same time.
 */
export function forecastRunBytes({ parameterCount, config }: { parameterCount: number; config: RunConfig }): number {
  const weightBytes = BYTES_PER_PARAMETER * parameterCount;
  const members = memberCountOf(config);
  const checkpoints = members * checkpointBytes(config, weightBytes, members);
  return checkpoints + STATES_AT_ONCE * stateCopies(config) * weightBytes + SMALL_FILES_BYTES;
}

/**
 * What one state of all R ranks holds, in copies of the weights: `R (1 + S)`, with the S values that optimizer and
 * averaging keep for each weight. The ranks of a pipeline share `1 + S` for each member; sharded ranks share S, and
 * from stage 3 also the weights.
 */
function stateCopies(config: RunConfig): number {
  const { strategy, members: ranks } = config;
  const slots = stateSlots(config);
  if (splitsLayers(strategy)) return memberCountOf(config) * (1 + slots);
  if (!splitsState(strategy)) return ranks * (1 + slots);
  return (strategy.stage === 3 ? 1 : ranks) + slots;
}

/** The most bytes of a member's checkpoints: a new one is written before others are removed. */
function checkpointBytes({ checkpoints, maxEpochs }: RunConfig, weightBytes: number, members: MemberCount): number {
  const { everyEpochs, keepLast, keepTop, quotaMiB } = checkpoints;
  const named = [checkpoints.ensembleBest, checkpoints.memberBest, checkpoints.final].filter(Boolean).length;
  const numbered = everyEpochs > 0 ? Math.floor(maxEpochs / everyEpochs) : 0;
  const kept = keepLast > 0 ? Math.min(numbered, keepLast + 1) : numbered;
  const top = keepTop > 0 ? keepTop + 1 : 0;
  const quotaBytes = quotaMiB === 0 ? Infinity : (quotaMiB * 1024 ** 2) / members + weightBytes;
  return named * weightBytes + Math.min((kept + top) * weightBytes, quotaBytes);
}

/**
 * Least memory of a rank in bytes: 4 P (W + G + S) with the model's parameters P, W = 1 for weights, G = 1 for
 * gradients and the S values that optimizer and averaging keep for each. The strategy `sharded` splits over the ranks
 * S, from stage 2 also G, from stage 3 also W; an optimizer's state in a file does not count. Activations and data come
 * on top. Null for a pipeline, whose ranks hold parts of the model.
 */
export function leastRankBytes(run: { parameterCount: number; config: RunConfig }): number | null {
  const { strategy, members: ranks } = run.config;
  if (splitsLayers(strategy)) return null;
  const split = splitsState(strategy) ? strategy : null;
  const stage = split?.stage ?? 0;
  const shareFrom = (first: number): number => (stage >= first ? 1 / ranks : 1);
  const isOffloaded = split?.offload === 'optimizer';
  const slots = isOffloaded ? Number(run.config.ema.decay > 0) : stateSlots(run.config);
  const weightSize = split?.weightPrecision === 'bfloat16' ? 0.5 : 1;
  const copies = weightSize * shareFrom(3) + shareFrom(2) + shareFrom(1) * slots;
  return Math.ceil(copies * BYTES_PER_PARAMETER * run.parameterCount);
}

/** Number of float32 values that a run keeps for each parameter besides the weight. */
function stateSlots({ optimizer, ema }: RunConfig): number {
  const size = optimizer.statePrecision === 'bfloat16' ? 0.5 : 1;
  return size * optimizerSlots(optimizer).length + Number(ema.decay > 0);
}

/**
 * Bytes of a run's checkpoints and states, which later ones replace. Those with a second name in `attempts/` stay on
 * the disk.
 */
export async function replacedBytes(folder: string): Promise<number> {
  const lists = ['checkpoints', 'state'].map((name) => listOwnFolder(folder, name, { isDeep: true }));
  const files = (await Promise.all(lists)).flat().filter(({ kind }) => kind === 'file');
  const sizes = files.map(async ({ path }) => {
    const { nlink, size } = await lstat(join(folder, path));
    return nlink === 1 ? size : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/**
 * Bytes of all files in a folder of a run, or in all of it; links do not count. 0 for a folder that is absent, or that
 * vanishes meanwhile.
 */
export async function folderBytes(folder: string, path = '.'): Promise<number> {
  const entries = await listOwnFolder(folder, path, { isDeep: true });
  return filesBytes(entries.filter(({ kind }) => kind === 'file').map((entry) => join(folder, entry.path)));
}

export async function filesBytes(paths: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const path of paths) bytes += (await unlessMissing(lstat(path)))?.size ?? 0;
  return bytes;
}

/** @throws FileError (ENOSPC) if the disk of `folder` (which need not exist yet) has less than `neededBytes` free */
export async function checkDiskSpace(folder: string, neededBytes: number): Promise<void> {
  const freeBytes = await readFreeBytes(resolve(folder));
  if (freeBytes >= neededBytes) return;
  const message =
    `The run may take ${formatBytes(neededBytes)}, but only ${formatBytes(freeBytes)} are free on the disk of ` +
    `${folder}. Free some space, choose a folder on another disk with --out, or keep fewer checkpoints ` +
    '(checkpoints.keepLast, checkpoints.everyEpochs, checkpoints.memberBest, checkpoints.final).';
  throw new FileError(message, { path: join(folder, 'checkpoints'), code: 'ENOSPC', neededBytes }, undefined);
}
