import { createDataset, createSplits, defineProject, Generator, splitDataset, tf, z } from 'tutti-ensembles';

const edge = 12;

/** Bright and dark squares in colour, as from a folder of images. */
export default defineProject({
  name: 'Pictures',
  description: 'Images of 12 × 12 pixels, bright or dark.',
  task: 'classification',
  hyperparameters: z.object({}),
  defaults: { members: 2, maxEpochs: 4, batchSize: 16, optimizer: { kind: 'adam', learningRate: 0.05 } },

  async data({ seed }) {
    const random = new Generator(seed, 'pictures');
    const targets = Int32Array.from({ length: 80 }, (_, i) => i % 2);
    const size = edge * edge * 3;
    const features = Uint8Array.from(
      { length: 80 * size },
      (_, i) => 60 + 100 * targets[Math.floor(i / size)] + Math.floor(80 * random.uniform()),
    );
    const classNames = ['dark', 'bright'];
    const all = createDataset({ name: 'pictures', featureShape: [edge, edge, 3], features, targets, classNames });
    const splits = splitDataset(all, { validation: 24 }, new Generator(seed, 'split'));
    const steps = [{ kind: 'images' as const, height: edge, width: edge, channels: 3 as const, fit: 'cover' as const }];
    return createSplits({ ...splits, preprocessing: { format: 1, steps } });
  },

  model({ featureShape, targetSize }) {
    const { dense, flatten } = tf.layers;
    return tf.sequential({ layers: [flatten({ inputShape: [...featureShape] }), dense({ units: targetSize })] });
  },
});
