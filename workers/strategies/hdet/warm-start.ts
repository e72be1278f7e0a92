import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { decodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { Generator } from '../../random/index.ts';
import { tf, type LayersModel, type Tensor } from '../../tensorflow/tf.ts';
import { writeWeights } from '../../member/weights.ts';

/**
 * Gives a model the weights of a checkpoint, with noise on those that are trained: w ← w + ν·‖w‖/√d · ε for each tensor of d
 * elements, ε standard normal, so that ν is the noise's share of the tensor.
 *
 * @throws when the checkpoint cannot be read, or is of another model
 */
export async function startWarm(model: LayersModel, path: string, noise: number, seed: number): Promise<void> {
  const { tensors } = decodeSafetensors(await readFile(resolve(path)));
  writeWeights(model, tensors, path);
  if (noise === 0) return;
  const generator = new Generator(seed, 'hdet/warm-start');
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
