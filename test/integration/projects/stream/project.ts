import { createDataset, createStreamDataset, defineProject, Generator, tf, z } from 'tutti-ensembles';

const [side, batch] = [128, 64];
const featureShape = [side, side, 1];
const size = side * side;

/** Images of noise with a square that is brighter in the second class. */
function draw(samples: number, generator: Generator) {
  const features = new Float32Array(samples * size);
  const targets = Int32Array.from({ length: samples }, () => generator.integer(2));
  for (const [i, label] of targets.entries()) features.fill(generator.uniform() + label, i * size, (i + 1) * size);
  return { features, targets };
}

export default defineProject({
  name: 'Stream',
  description: 'More samples than memory has room for, one batch after the other.',
  task: 'classification',
  hyperparameters: z.object({
    samples: z.int().default(12_288).meta({ help: 'Samples of 64 KiB in an epoch.' }),
    inMemory: z.boolean().default(false).meta({ help: 'Whether all samples are in memory.' }),
  }),
  defaults: { members: 1, maxEpochs: 1, batchSize: batch, optimizer: { kind: 'adam', learningRate: 0.05 } },

  data({ seed, hyperparameters: { samples, inMemory } }) {
    const about = { featureShape, classCount: 2 };
    const validation = createDataset({
      name: 'validation',
      ...about,
      ...draw(batch, new Generator(seed, 'validation')),
    });
    if (inMemory) {
      const train = createDataset({ name: 'training', ...about, ...draw(samples, new Generator(seed, 'training')) });
      return { train, validation };
    }
    const train = createStreamDataset({
      ...about,
      name: 'training',
      length: samples,
      *batches({ epoch, seed: own }) {
        const generator = new Generator(own, `epoch-${epoch}`);
        for (let at = 0; at < samples; at += batch) yield draw(batch, generator);
      },
    });
    return { train, validation };
  },

  model({ targetSize }) {
    const { averagePooling2d, dense, flatten } = tf.layers;
    return tf.sequential({
      layers: [averagePooling2d({ poolSize: 32, inputShape: featureShape }), flatten(), dense({ units: targetSize })],
    });
  },
});
