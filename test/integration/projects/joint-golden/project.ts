import { readFileSync } from 'node:fs';
import { defineProject, mnist, tf, z } from 'tutti';
import { createNetwork } from '../../../../examples/05_joint_training/network.ts';
import { decodeSafetensors } from '../../../../workers/checkpoints/safetensors.ts';

/** Example 05's network with initial weights that PyTorch made, on the 10,000 images in the order of their file. */
export default defineProject({
  name: 'Joint golden',
  description: 'Joint training from weights of PyTorch.',
  task: 'classification',
  hyperparameters: z.object({ weights: z.string(), expertsPerMember: z.int().min(1) }),
  defaults: { batchSize: 200, maxEpochs: 2, sampler: 'sequential', logEverySteps: 1, seed: 0 },

  async data({ folders }) {
    return mnist({ ...folders, files: 't10k' });
  },

  model({ hyperparameters: { weights, expertsPerMember }, rank, featureShape, targetSize }) {
    const first = rank * expertsPerMember;
    const experts = Array.from({ length: expertsPerMember }, (_, expert) => first + expert);
    const model = createNetwork({ featureShape, classes: targetSize, seeds: experts });
    const { tensors } = decodeSafetensors(readFileSync(weights));
    const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
    // The model lists its layers depth by depth: the first layers of all experts, then the second ones.
    const names = ['conv1', 'conv2', 'fc1', 'fc2'].flatMap((layer) =>
      experts.flatMap((expert) => ['weight', 'bias'].map((part) => `member${expert}.${layer}.${part}`)),
    );
    tf.tidy(() =>
      model.setWeights(
        names.map((name) => {
          const tensor = byName.get(name);
          if (tensor === undefined) throw new Error(`${weights} holds no "${name}".`);
          return tf.tensor(tensor.data as Float32Array, [...tensor.shape]);
        }),
      ),
    );
    return model;
  },
});
