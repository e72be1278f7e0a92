import { cifar10, createSplits, defineProject, flattened, Generator, splitDataset, tf, z } from 'tutti-ensembles';
import { drawComparison } from './figures.ts';

/** CIFAR-10 as vectors of 3,072 values and a plain network that soon overfits: when should an ensemble stop? */
export default defineProject({
  name: 'Joint early stopping',
  description: "An MLP on CIFAR-10 that stops at the ensemble's optimum, compared with each member's own.",
  task: 'classification',
  // To download the images.
  permissions: { network: true },
  hyperparameters: z.object({
    width: z.int().min(1).default(256).meta({ help: 'Units in each hidden layer; 2048 suits a GPU.' }),
    layers: z.int().min(1).default(4).meta({ help: 'Hidden layers.' }),
    validationShare: z
      .number()
      .gt(0)
      .lt(1)
      .default(0.2)
      .meta({ help: 'Share of the training images that are held out to choose the epoch.' }),
  }),
  defaults: {
    members: 2,
    optimizer: { kind: 'adam', learningRate: 0.001 },
    batchSize: 2048,
    maxEpochs: 200,
    earlyStopping: { enabled: true, joint: true, monitor: 'val/ens_nll', patience: 20 },
    checkpoints: { ensembleBest: true, memberBest: true },
    logEverySteps: 10,
  },

  /** Validation images come from the training set, so that the test images take no part in the choice of the epoch. */
  async data({ folders, seed, hyperparameters: { validationShare } }) {
    const { train: images, test } = await cifar10(folders);
    const { train, validation } = splitDataset(
      flattened(images),
      { validation: validationShare },
      new Generator(seed, 'split'),
    );
    return createSplits({ train, validation, test: test && flattened(test) });
  },

  model({ hyperparameters: { width, layers }, featureShape, targetSize }) {
    const model = tf.sequential();
    for (let layer = 0; layer < layers; layer++) {
      const inputShape = layer === 0 ? { inputShape: [...featureShape] } : {};
      model.add(tf.layers.dense({ units: width, activation: 'relu', ...inputShape }));
    }
    model.add(tf.layers.dense({ units: targetSize }));
    return model;
  },

  figures: drawComparison,
});
