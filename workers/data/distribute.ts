import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asFullDisk } from '../../core/node/disk-room.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import { type BatchSource, BroadcastBatches } from './batches.ts';
import { type Dataset, mapEachSplit, requireInMemory, type Splits, subset } from './dataset.ts';
import { decodeSplits, encodeSplits, mapSplits, readSplits, writeSplits } from './share.ts';
import { openBatches } from './streams/open-batches.ts';
import type { StreamReader } from './streams/sources.ts';

export interface RankData {
  /** This rank's splits. If batches are broadcast, only the first rank has more than one sample of `train`. */
  splits: Splits;
  /** Opens the training batches of one rank of this process. Each rank has separate memory for them. */
  openBatches: (who: StreamReader) => BatchSource;
}

export interface Distribution {
  mode: RunConfig['data']['mode'];
  /** The groups of this process's ranks, which share one copy of the data; a single one if batches are broadcast. */
  groups: readonly ProcessGroup[];
  /** The group's ranks on this node, which have these folders in common. */
  nodeRanks: readonly number[];
  /** The run's private folders for temporary files. A data set that does not fit into the first goes into the next. */
  folders: readonly string[];
  /** Whether another group of ranks needs the data after this one has ended. */
  isWantedLater: boolean;
}

/**
 * Gives all ranks of a group the run's data. Only the first rank of each node loads, unpacks and checks them; where
 * samples are on disk, each process does. Where all ranks are of one process, no file is written.
 */
export async function distributeData(how: Distribution, load: () => Promise<Splits>): Promise<RankData> {
  if (how.mode === 'broadcast') return broadcastData(how.groups[0], load);
  const splits = await loadOnce(how, load);
  return { splits, openBatches: (who) => openBatches(splits.train, who) };
}

/**
 * Removes the file as soon as all ranks have loaded it: it lies in memory, and must not remain after a run whose
 * processes are killed.
 */
async function loadOnce(how: Distribution, load: () => Promise<Splits>): Promise<Splits> {
  const { mode, groups, nodeRanks, folders, isWantedLater } = how;
  const [group] = groups;
  const barrier = () => Promise.all(groups.map((of) => of.barrier()));
  const files = folders.map((folder) => join(folder, 'data.bin'));
  const isFirst = group.rank === nodeRanks[0];
  const isThere = files.some(existsSync);
  const isAlone = group.worldSize === groups.length;
  if (isAlone && !isWantedLater && !isThere) return load();
  const loaded = isFirst && !isThere ? await load() : null;
  if (loaded !== null) await writeWhereRoomIs(files, loaded);
  await barrier();
  const file = files.find(existsSync) ?? files[0];
  const received = mode === 'shared' ? await mapSplits(file) : (loaded ?? (await readSplits(file)));
  // Files on disk are opened by each process.
  const splits = hasSource(received) ? (loaded ?? (await load())) : received;
  await barrier();
  if (isFirst && !isWantedLater) await rm(file);
  return splits;
}

/** Whether samples are on disk or come as a stream. */
function hasSource({ train, validation, test, unlabelled }: Splits): boolean {
  return [train, validation, test, unlabelled].some(
    (split) => split?.source !== undefined || split?.stream !== undefined,
  );
}

/** @throws Error of each file if none of them has room */
async function writeWhereRoomIs(files: readonly string[], splits: Splits): Promise<void> {
  const problems: string[] = [];
  for (const file of files) {
    try {
      await writeSplits(file, splits);
      for (const problem of problems) console.log(`${problem} It is shared through ${file} instead.`);
      return;
    } catch (error) {
      if (!(error instanceof Error) || asFullDisk(error.cause) === null) throw error;
      problems.push(error.message);
    }
  }
  throw new Error(problems.join('\n'));
}

/**
 * Sends whole evaluation splits to every rank, which predicts all of them, but only one training sample, for type and
 * shape.
 */
async function broadcastData(group: ProcessGroup, load: () => Promise<Splits>): Promise<RankData> {
  const [root] = group.ranks;
  const isRoot = group.rank === root;
  const loaded = isRoot ? await load() : null;
  if (loaded !== null) mapEachSplit(loaded, requireInMemory);
  const message = loaded === null ? new Uint8Array(0) : messageOf(loaded);
  const about = Float64Array.of(message.length, loaded?.train.length ?? 0);
  const [bytes, length] = await group.broadcast(about, root);
  const received = await group.broadcast(isRoot ? message : new Uint8Array(bytes), root);
  // The copy starts at the beginning of its buffer and keeps no other memory alive.
  const splits = loaded ?? decodeSplits(Buffer.from(new Uint8Array(received).buffer), `What rank ${root} sent`);
  return { splits, openBatches: () => new BroadcastBatches(group, splits.train, length) };
}

function messageOf({ train, validation, test, preprocessing, notes }: Splits): Uint8Array {
  const one = subset(train, Int32Array.of(firstCounted(train)));
  return Buffer.concat(encodeSplits({ train: one, validation, test, preprocessing, notes }));
}

/** The first sample with a target that counts, as every rank checks that its split has one; 0 where none does. */
function firstCounted({ length, targets, weights, mask }: Dataset): number {
  const width = targets.length / length;
  for (let sample = 0; sample < length; sample++) {
    const isMasked = mask !== undefined && !mask.subarray(sample * width, (sample + 1) * width).includes(1);
    if (!isMasked && weights?.[sample] !== 0) return sample;
  }
  return 0;
}
