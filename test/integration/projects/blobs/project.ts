import { createSplits, defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti-ensembles';

/** Overlapping blobs, small enough to train in a second. The data never depend on the run's seed. */
export default defineProject({
  name: 'Blobs',
  description: 'Three overlapping classes in the plane.',
  task: 'classification',
  hyperparameters: z.object({
    samples: z.int().min(30).default(150),
    spread: z.number().positive().default(2.5),
    hiddenUnits: z.int().min(1).default(8),
    dropout: z.number().min(0).lt(1).default(0.1),
    unlabelled: z.int().min(0).default(0),
  }),
  defaults: { batchSize: 30, logEverySteps: 1 },

  data({ hyperparameters: { samples, spread, unlabelled } }) {
    const whole = gaussianBlobs({ samples, spread, seed: 7 });
    const splits = splitDataset(whole, { validation: 0.2, test: 0.2 }, new Generator(7, 'split'));
    if (unlabelled === 0) return splits;
    return createSplits({ ...splits, unlabelled: gaussianBlobs({ samples: unlabelled, spread, seed: 8 }) });
  },

  model({ hyperparameters: { hiddenUnits, dropout }, featureShape, targetSize }) {
    return tf.sequential({
      layers: [
        tf.layers.dense({ units: hiddenUnits, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.dropout({ rate: dropout }),
        tf.layers.dense({ units: targetSize }),
      ],
    });
  },
});
