import { defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti';

/** Overlapping blobs: small enough to train in a second. Its data never depend on the run's seed. */
export default defineProject({
  name: 'Blobs',
  description: 'Three overlapping classes in the plane.',
  task: 'classification',
  hyperparameters: z.object({
    samples: z.int().min(30).default(150),
    spread: z.number().positive().default(2.5),
    hiddenUnits: z.int().min(1).default(8),
    dropout: z.number().min(0).lt(1).default(0.1),
  }),
  defaults: { batchSize: 30, logEverySteps: 1 },

  data({ hyperparameters: { samples, spread } }) {
    const whole = gaussianBlobs({ samples, spread, seed: 7 });
    return splitDataset(whole, { validation: 0.2, test: 0.2 }, new Generator(7, 'split'));
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
