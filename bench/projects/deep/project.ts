import { createDataset, createSplits, defineProject, Generator, tf, z } from 'tutti-ensembles';

/**
 * A deep network of equal layers on noise, to measure the memory of training. After each step a rank writes to its log
 * the size of its backend's heap, the present and the largest resident memory of its process, and the time since its
 * start.
 */
export default defineProject({
  name: 'Deep network',
  description: 'Equal dense layers on noise, for benchmarks of memory.',
  task: 'classification',
  hyperparameters: z.object({
    layers: z.int().min(1).default(48).meta({ help: 'Hidden layers.' }),
    units: z.int().min(1).default(256).meta({ help: 'Units of each.' }),
    samples: z.int().min(1).default(4096).meta({ help: 'Samples to train on.' }),
  }),
  defaults: { batchSize: 2048, maxEpochs: 1, evaluateEveryEpochs: 1, checkpoints: { final: false } },
  data({ hyperparameters: { samples, units }, seed }) {
    const features = new Float32Array(samples * units);
    new Generator(seed, 'noise').fillUniform(features);
    const targets = Int32Array.from({ length: samples }, (_, i) => i % 10);
    return createSplits({
      train: createDataset({ name: 'noise', featureShape: [units], features, targets, classCount: 10 }),
    });
  },
  model({ hyperparameters: { layers, units }, targetSize }) {
    const hidden = Array.from({ length: layers }, () =>
      tf.layers.dense({ units, activation: 'tanh', inputShape: [units] }),
    );
    return tf.sequential({ layers: [...hidden, tf.layers.dense({ units: targetSize })] });
  },
  callbacks: () => [
    {
      name: 'heap',
      onStepEnd() {
        const { wasm } = tf.backend() as unknown as { wasm: { HEAPU8: Uint8Array } };
        const peakBytes = 1024 * process.resourceUsage().maxRSS;
        console.log(
          `heap of ${wasm.HEAPU8.byteLength} bytes, resident ${process.memoryUsage.rss()} bytes, at most ${peakBytes} bytes, ` +
            `after ${performance.now().toFixed(1)} ms`,
        );
      },
    },
  ],
});
