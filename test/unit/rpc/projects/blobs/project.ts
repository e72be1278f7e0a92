import { defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti-ensembles';

/** Three blobs in the plane and two small members. A run takes one to two seconds. */
export default defineProject({
  name: 'Blobs',
  description: 'Three blobs in the plane.',
  task: 'classification',
  hyperparameters: z.object({ width: z.int().min(1).default(8).meta({ help: 'Units of the hidden layer.' }) }),
  defaults: { maxEpochs: 3, batchSize: 16, logEverySteps: 2, devices: 'cpu' },
  data: ({ seed }) =>
    splitDataset(gaussianBlobs({ samples: 120, seed }), { validation: 30, test: 30 }, new Generator(seed, 'split')),
  model: ({ hyperparameters, featureShape, targetSize }) =>
    tf.sequential({
      layers: [
        tf.layers.dense({ inputShape: [...featureShape], units: hyperparameters.width, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    }),
});
