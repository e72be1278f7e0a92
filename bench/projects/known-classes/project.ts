import {
  cifar10,
  createDataset,
  type Dataset,
  defineProject,
  Generator,
  mnist,
  splitDataset,
  subset,
  tf,
  z,
} from 'tutti-ensembles';

/** The first 8 of 10 classes of MNIST's test images or of CIFAR-10. The other two are outside the training data. */
export default defineProject({
  name: 'Known classes',
  description: 'Eight classes of MNIST or CIFAR-10 to learn, and two that are outside the training data.',
  task: 'classification',
  // To download the images.
  permissions: { network: true },
  hyperparameters: z.object({ images: z.enum(['mnist', 'cifar10']).default('mnist') }),
  defaults: {
    members: 4,
    membersPerDevice: 2,
    optimizer: { kind: 'adam', learningRate: 0.003 },
    batchSize: 64,
    maxEpochs: 12,
  },

  async data({ folders, seed, hyperparameters: { images } }) {
    const { train } = images === 'mnist' ? await mnist({ ...folders, files: 't10k' }) : await cifar10(folders);
    const parts = { validation: 0.2, test: 0.2 };
    const splits = splitDataset(
      ofClasses(train, (label) => label < 8),
      parts,
      new Generator(seed, 'split'),
    );
    return { ...splits, outOfDistribution: { 'two other classes': () => ofClasses(train, (label) => label >= 8) } };
  },

  model({ featureShape, targetSize }) {
    const convolution = { kernelSize: 3, strides: 2, activation: 'relu' } as const;
    return tf.sequential({
      layers: [
        tf.layers.conv2d({ filters: 16, ...convolution, inputShape: [...featureShape] }),
        tf.layers.conv2d({ filters: 32, ...convolution }),
        tf.layers.flatten(),
        tf.layers.dense({ units: 64, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});

function ofClasses(images: Dataset, keeps: (label: number) => boolean): Dataset {
  const rows = Int32Array.from(images.targets.keys()).filter((row) => keeps(images.targets[row]));
  const chosen = subset(images, rows);
  // Labels of other classes do not matter.
  const targets = Int32Array.from(chosen.targets, (label) => Math.min(label, 7));
  return createDataset({ ...chosen, targets, classNames: images.classNames?.slice(0, 8), classCount: 8 });
}
