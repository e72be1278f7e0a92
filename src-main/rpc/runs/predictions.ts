import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { combinationOf } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import type { PredictionData } from '../../../core/protocol/pages/run-data.ts';
import { listOwnFolder } from '../../../core/node/own-folders.ts';
import { readRunRecord } from '../../store/runs/run-folder.ts';
import { readTensorMetadata, readTensors, type StoredTensor } from '../../store/runs/safetensors-reader.ts';
import type { HubParts } from '../../hub/run-feed.ts';

type Split = 'validation' | 'test';
const ending = '.safetensors';

/** The names of kept predictions, by split and epoch. */
export async function listPredictions(
  { hub }: HubParts,
  id: string,
): Promise<{ split: Split; name: string; epoch: number }[]> {
  const { folder } = await hub.find(id);
  const lists = (['validation', 'test'] as const).map(async (split) => {
    const splitFolder = join('predictions', split);
    const [first] = await keptRanks(folder, splitFolder);
    if (first === undefined) return [];
    const entries = await listOwnFolder(folder, join(splitFolder, `rank-${first}`));
    const kept = entries.filter(({ name }) => name.endsWith(ending));
    return Promise.all(
      kept.map(async ({ path, name }) => {
        const { epoch } = await readTensorMetadata(folder, path);
        return { split, name: name.slice(0, -ending.length), epoch: Number(epoch) };
      }),
    );
  });
  const all = (await Promise.all(lists)).flat();
  return all.sort((a, b) => a.epoch - b.epoch || (a.name < b.name ? -1 : 1));
}

/** The predictions of all members that kept some under this name; null if there are none. */
export async function readPredictions(
  { hub }: Pick<HubParts, 'hub'>,
  id: string,
  { split, name }: { split: Split; name: string },
): Promise<PredictionData | null> {
  const { folder } = await hub.find(id);
  const { task, config } = await readRunRecord(folder);
  const splitFolder = join('predictions', split);
  const pathOf = (rank: number): string => join(splitFolder, `rank-${rank}`, `${name}${ending}`);
  const ranks = (await keptRanks(folder, splitFolder)).filter((rank) => existsSync(join(folder, pathOf(rank))));
  if (ranks.length === 0) return null;
  const kept = await Promise.all(ranks.map((rank) => readTensors(folder, pathOf(rank))));
  const logits = ['logits', 'label_logits'].find((name) => kept.every(({ tensors }) => tensors.has(name)));
  const outputs =
    logits !== undefined ? [logits] : [...kept[0].tensors.keys()].filter((name) => !name.includes(':')).sort();
  const [samples, width] = tensorOf(kept[0].tensors, outputs[0], pathOf(ranks[0])).shape;
  const kindOfOthers = task.endsWith('regression') ? 'values' : 'probabilities';
  const { weights, count, ...targets } = await readTargets(folder, join(splitFolder, `targets${ending}`));
  const all = {
    task,
    combination: combinationOf(config.strategy, task),
    kind: logits !== undefined ? 'logits' : kindOfOthers,
    ranks,
    epoch: Math.max(...kept.map(({ metadata }) => Number(metadata.epoch))),
    samples,
    positions: samples / count,
    width,
    outputs: outputs.map((output) =>
      stack(kept.map(({ tensors }, member) => tensorOf(tensors, output, pathOf(ranks[member])))),
    ),
    ...targets,
    weights: null,
    places: null,
  } satisfies PredictionData;
  return weights === null ? all : withoutMasked(all, weights);
}

/** The samples (or positions of samples) with a target whose weight is above 0: those that metrics count. */
function withoutMasked(all: PredictionData, weights: Float32Array | Int32Array): PredictionData {
  const perSample = weights.length / all.samples;
  const counts = Uint8Array.from({ length: all.samples }, (_, sample) =>
    Number(weights.subarray(sample * perSample, (sample + 1) * perSample).some((weight) => weight > 0)),
  );
  const kept = <A extends Float32Array | Int32Array>(values: A, width: number): A =>
    values.filter((_, index) => counts[Math.floor(index / width) % all.samples] === 1) as A;
  return {
    ...all,
    samples: counts.reduce((sum, one) => sum + one, 0),
    outputs: all.outputs.map((output) => kept(output, all.width)),
    targets: kept(all.targets, perSample),
    weights: Float64Array.from(kept(weights, perSample)),
    feature: all.feature?.length === all.samples ? kept(all.feature, 1) : null,
    places: Int32Array.from(counts.keys()).filter((sample) => counts[sample] === 1),
  };
}

async function readTargets(
  folder: string,
  path: string,
): Promise<
  Pick<PredictionData, 'targets' | 'feature' | 'classNames' | 'targetNames' | 'areHeldOut'> & {
    weights: StoredTensor['data'] | null;
    /** Samples of the split. */
    count: number;
  }
> {
  const { tensors, metadata } = await readTensors(folder, path);
  const feature = tensors.get('feature')?.data;
  const { data, shape } = tensorOf(tensors, 'targets', path);
  return {
    targets: data,
    count: shape[0],
    areHeldOut: tensors.has('held_out_by'),
    weights: tensors.get('weights')?.data ?? null,
    feature: feature instanceof Float32Array ? feature : null,
    classNames: namesIn(metadata.class_names),
    targetNames: namesIn(metadata.target_names),
  };
}

function namesIn(list: string | undefined): string[] | null {
  return list === undefined ? null : z.array(z.string()).parse(JSON.parse(list));
}

function tensorOf(tensors: ReadonlyMap<string, StoredTensor>, name: string, path: string): StoredTensor {
  const tensor = tensors.get(name);
  if (tensor === undefined) throw new Error(`${path} has no tensor "${name}": another version of Tutti wrote it.`);
  return tensor;
}

/** Joins arrays `[N, W]` of M members to one array `[M, N, W]`. */
function stack(members: readonly StoredTensor[]): Float32Array {
  const [{ data }] = members;
  const whole = new Float32Array(members.length * data.length);
  for (const [member, tensor] of members.entries()) whole.set(tensor.data, member * data.length);
  return whole;
}

async function keptRanks(folder: string, splitFolder: string): Promise<number[]> {
  const entries = await listOwnFolder(folder, splitFolder);
  const ranks = entries.flatMap(({ name }) => /^rank-(\d+)$/.exec(name)?.[1] ?? []);
  return ranks.map(Number).sort((a, b) => a - b);
}
