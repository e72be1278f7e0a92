import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import { type BatchSource, BroadcastBatches, ownBatches } from './batches.ts';
import { type Splits, take } from './dataset.ts';
import { decodeSplits, encodeSplits, mapSplits, readSplits, writeSplits } from './share.ts';

export interface RankData {
  /** What this rank has. Where batches are broadcast, only the first rank has more than one sample of the split `train`. */
  splits: Splits;
  /** The training batches of one rank of this process: each has its own memory for them. */
  openBatches: () => BatchSource;
}

export interface Distribution {
  mode: RunConfig['data']['mode'];
  /** Of this process's ranks, which have the data once between them; only one where batches are broadcast. */
  groups: readonly ProcessGroup[];
  /** The run's owner-only folder for what lives as long as it does. */
  folder: string;
  /** Whether another group of ranks will want the data when this one has ended. */
  isWantedLater: boolean;
}

/** A run's data on all ranks of a group, of which the first reads, unpacks and checks them, once. */
export async function distributeData(how: Distribution, load: () => Promise<Splits>): Promise<RankData> {
  if (how.mode === 'broadcast') return broadcastData(how.groups[0], load);
  const splits = await loadOnce(how, load);
  return { splits, openBatches: () => ownBatches(splits.train) };
}

/** The file is gone once all have what they need: what lies in memory must not outlive a run whose processes are killed. */
async function loadOnce(how: Distribution, load: () => Promise<Splits>): Promise<Splits> {
  const { mode, groups, folder, isWantedLater } = how;
  const [group] = groups;
  const barrier = () => Promise.all(groups.map((of) => of.barrier()));
  const file = join(folder, 'data.bin');
  const isFirst = group.rank === group.ranks[0];
  const isThere = existsSync(file);
  if (group.worldSize === 1 && !isWantedLater && !isThere) return load();
  const loaded = isFirst && !isThere ? await load() : null;
  if (loaded !== null) await writeSplits(file, loaded);
  await barrier();
  const splits = mode === 'shared' ? await mapSplits(file) : (loaded ?? (await readSplits(file)));
  await barrier();
  if (isFirst && !isWantedLater) await rm(file);
  return splits;
}

/** Every rank predicts whole splits at each evaluation, so it gets those as they are; of the training set, one sample tells the rest. */
async function broadcastData(group: ProcessGroup, load: () => Promise<Splits>): Promise<RankData> {
  const [root] = group.ranks;
  const isRoot = group.rank === root;
  const loaded = isRoot ? await load() : null;
  const message = loaded === null ? new Uint8Array(0) : messageOf(loaded);
  const about = Float64Array.of(message.length, loaded?.train.length ?? 0);
  const [bytes, length] = await group.broadcast(about, root);
  const received = await group.broadcast(isRoot ? message : new Uint8Array(bytes), root);
  // A copy of its own begins where its buffer does, and keeps nothing else alive.
  const splits = loaded ?? decodeSplits(Buffer.from(new Uint8Array(received).buffer), `What rank ${root} sent`);
  return { splits, openBatches: () => new BroadcastBatches(group, splits.train, length) };
}

function messageOf({ train, validation, test }: Splits): Uint8Array {
  return Buffer.concat(encodeSplits({ train: take(train, 1), validation, test }));
}
