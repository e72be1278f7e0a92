import { defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti-ensembles';

/** Classes that overlap so much that members overfit and the ensemble's NLL turns, small enough to watch. */
export default defineProject({
  name: 'Overlapping blobs',
  description: 'Four classes in the plane, too many hidden units for too few points.',
  task: 'classification',
  hyperparameters: z.object({
    hiddenUnits: z.int().min(1).default(64).meta({ help: 'Units of the hidden layer.' }),
    spread: z.number().positive().default(2.2).meta({ help: 'Standard deviation of each class.' }),
  }),
  defaults: {
    maxEpochs: 40,
    batchSize: 40,
    logEverySteps: 5,
    optimizer: { kind: 'adam', learningRate: 0.003 },
    checkpoints: { everyEpochs: 10, stateEverySeconds: 0 },
  },

  data({ hyperparameters: { spread } }) {
    console.log(`Blobs with a spread of ${spread}`);
    const whole = gaussianBlobs({ samples: 800, classes: 4, spread, seed: 7 });
    return splitDataset(whole, { validation: 0.35, test: 0.35 }, new Generator(7, 'split'));
  },

  model({ hyperparameters: { hiddenUnits }, featureShape, targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.dense({ units: hiddenUnits, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.dense({ units: hiddenUnits, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});
