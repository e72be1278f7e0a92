import { createDataset, createSplits, defineProject, Generator, tf, z } from 'tutti-ensembles';

/** The MLP 3072-512-512-10 on noise, to measure the time of a step and of exchanging 1.8 million weights. */
export default defineProject({
  name: 'MLP 3072-512-512-10',
  description: 'A network on noise, for benchmarks.',
  task: 'classification',
  hyperparameters: z.object({
    samples: z.int().min(1).default(2560).meta({ help: 'Samples to train on.' }),
  }),
  defaults: { batchSize: 128, maxEpochs: 15, evaluateEveryEpochs: 15, checkpoints: { final: false } },
  data({ hyperparameters: { samples }, seed }) {
    const features = new Float32Array(samples * 3072);
    new Generator(seed, 'noise').fillUniform(features);
    const targets = Int32Array.from({ length: samples }, (_, i) => i % 10);
    return createSplits({
      train: createDataset({ name: 'noise', featureShape: [3072], features, targets, classCount: 10 }),
    });
  },
  model({ featureShape, targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.dense({ units: 512, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.dense({ units: 512, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});
