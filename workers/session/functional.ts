import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeSafetensors } from '../../core/safetensors/safetensors.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import { tf, type LayersModel, type Tensor } from '../tensorflow/tf.ts';
import { writeWeights } from '../member/weights.ts';

/**
 * All-gathers a tensor of every rank and stacks the results in rank order.
 * @param local this rank's tensor, of the same shape and type on all M ranks
 * @returns shape `[M, ...local.shape]`
 */
export async function gatherEnsembleMetrics(group: ProcessGroup, local: Tensor): Promise<Tensor> {
  const values = (await local.data()) as Float32Array | Int32Array;
  const gathered = await group.allGather(values, local.shape);
  return tf.tidy(() => tf.stack(gathered.map((member) => tf.tensor(member, local.shape, local.dtype))));
}

/**
 * Loads per-rank checkpoints into models, sorted by rank.
 *
 * @param folder - folder of the files; `pattern` is relative to it
 * @param createModel - builds a new model of the saved architecture
 * @param pattern - path with a `{rank}` placeholder, of checkpoints or of saved training states
 * @throws Error when no file matches, or one does not fit the model
 */
export async function loadEnsemble(
  folder: string,
  createModel: () => LayersModel,
  pattern = 'rank-{rank}/ensemble-best.safetensors',
): Promise<LayersModel[]> {
  const matcher = new RegExp(`^${pattern.split('{rank}').map(escapePattern).join('(\\d+)')}$`);
  const files = (await readdir(folder, { recursive: true })).flatMap((path) => {
    const rank = matcher.exec(path.replaceAll('\\', '/'))?.[1];
    return rank === undefined ? [] : [{ rank: Number(rank), path: join(folder, path) }];
  });
  if (files.length === 0) {
    throw new Error(
      `No checkpoint in ${folder} matches "${pattern}". Pass the folder that holds them, or another pattern.`,
    );
  }
  const models: LayersModel[] = [];
  for (const { path } of files.sort((a, b) => a.rank - b.rank)) {
    const { tensors } = decodeSafetensors(await readFile(path));
    const wrapped = tensors.filter(({ name }) => name.startsWith('weights/'));
    const weights =
      wrapped.length === 0 ? tensors : wrapped.map((t) => ({ ...t, name: t.name.slice('weights/'.length) }));
    const model = createModel();
    writeWeights(model, weights, path);
    models.push(model);
  }
  return models;
}

/**
 * Predicts with all members, in inference mode. Returns mean and standard deviation over the M members, each in the
 * shape of one model's output. The standard deviation divides by M − 1; it is 0 for a single member.
 */
export function ensemblePredict(models: readonly LayersModel[], input: Tensor): { mean: Tensor; std: Tensor };
/** The same, with `aggregate` written out. */
export function ensemblePredict(
  models: readonly LayersModel[],
  input: Tensor,
  aggregate: 'mean',
): { mean: Tensor; std: Tensor };
/** Predicts with all members, in inference mode. Returns the stack of their outputs, `[M, ...]`. */
export function ensemblePredict(models: readonly LayersModel[], input: Tensor, aggregate: 'none'): Tensor;
export function ensemblePredict(models: readonly LayersModel[], input: Tensor, aggregate: 'mean' | 'none' = 'mean') {
  const stack = tf.tidy(() => tf.stack(models.map((model) => model.apply(input, { training: false }) as Tensor)));
  if (aggregate === 'none') return stack;
  const mean = tf.mean(stack, 0);
  const std = tf.tidy(() => {
    const squares = tf.sum(tf.square(tf.sub(stack, mean)), 0);
    return tf.sqrt(tf.div(squares, Math.max(1, models.length - 1)));
  });
  stack.dispose();
  return { mean, std };
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
