import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { WarmStartConfig } from '../../core/protocol/run/schedule-config.ts';
import { decodeSafetensors, type NamedTensor } from '../../core/safetensors/safetensors.ts';
import type { Generator } from '../random/index.ts';
import { tf, type LayersModel, type Tensor } from '../tensorflow/tf.ts';
import { weightVariables, writeWeights } from './weights.ts';

/** What a warm start did, for the run's events. */
interface WarmStartReport {
  message: string;
  data: { loaded: string[]; missing: string[]; unused: string[] };
}

/**
 * Loads a checkpoint's weights into a model, by name, and adds noise to the trained ones: w ← w + ν·‖w‖/√d · ε for each
 * tensor of d elements, with ε standard normal: ν is the norm of the noise relative to the tensor's. A saved state's
 * weights count as well.
 *
 * @throws when the checkpoint cannot be read, has no weight of the model or, if `strict`, belongs to another model
 */
export async function loadWarmStart(
  model: LayersModel,
  { checkpoint, strict, noise }: WarmStartConfig,
  generator: Generator,
): Promise<WarmStartReport> {
  const { tensors } = decodeSafetensors(await readFile(resolve(checkpoint)));
  const ofState = tensors.filter(({ name }) => name.startsWith('weights/'));
  const weights =
    ofState.length === 0
      ? tensors
      : ofState.map((tensor) => ({ ...tensor, name: tensor.name.slice('weights/'.length) }));
  if (strict) writeWeights(model, weights, checkpoint);
  else writeMatching(model, weights, checkpoint);
  if (noise > 0) addNoise(model, noise, generator);
  return reportOf(model, weights, checkpoint);
}

function writeMatching(model: LayersModel, tensors: readonly NamedTensor[], source: string): void {
  const fitting = tensors.filter((tensor) => fits(model, tensor));
  if (fitting.length === 0) {
    const own = [...weightVariables(model).keys()].join(', ');
    throw new Error(
      `${source} has no weight with the name and shape of one of this model's (${own}). Name another ` +
        'checkpoint, or name the layers alike.',
    );
  }
  for (const { name, shape, data } of fitting) {
    tf.tidy(() =>
      weightVariables(model)
        .get(name)
        ?.assign(tf.tensor(data as Float32Array, [...shape])),
    );
  }
}

function fits(model: LayersModel, { name, shape }: NamedTensor): boolean {
  return weightVariables(model).get(name)?.shape.join() === shape.join();
}

function reportOf(model: LayersModel, tensors: readonly NamedTensor[], source: string): WarmStartReport {
  const fitting = new Set(tensors.filter((tensor) => fits(model, tensor)).map(({ name }) => name));
  const names = [...weightVariables(model).keys()];
  const loaded = names.filter((name) => fitting.has(name));
  const missing = names.filter((name) => !fitting.has(name));
  const unused = tensors.map(({ name }) => name).filter((name) => !fitting.has(name));
  const others = [
    missing.length === 0 ? '' : ` These keep their initial values: ${missing.join(', ')}.`,
    unused.length === 0 ? '' : ` The model lacks these, or has them in another shape: ${unused.join(', ')}.`,
  ];
  const total = loaded.length + missing.length;
  const message = `Started with ${loaded.length} of ${total} weights from ${source}.${others.join('')}`;
  return { message, data: { loaded, missing, unused } };
}

function addNoise(model: LayersModel, noise: number, generator: Generator): void {
  tf.tidy(() => {
    for (const weight of model.trainableWeights) weight.write(noisy(weight.read(), noise, generator));
  });
}

function noisy(weight: Tensor, noise: number, generator: Generator): Tensor {
  const values = new Float32Array(weight.size);
  generator.fillNormal(values);
  const scale = tf.mul(tf.norm(weight), noise / Math.sqrt(weight.size));
  return tf.add(weight, tf.mul(tf.tensor(values, weight.shape), scale));
}
