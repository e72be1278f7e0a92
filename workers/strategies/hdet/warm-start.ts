import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { decodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { Generator } from '../../random/index.ts';
import { tf, type LayersModel, type Tensor } from '../../tensorflow/tf.ts';
import { writeWeights } from '../../member/weights.ts';

/**
 * Loads a checkpoint's weights into a model, and adds noise to the trained ones: w ← w + ν·‖w‖/√d · ε for each tensor of d
 * elements, with ε standard normal: ν is the norm of the noise relative to the tensor's.
 *
 * @throws when the checkpoint cannot be read, or belongs to another model
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
