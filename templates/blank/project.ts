import { defineProject, Generator, splitDataset, tf, twoMoons, z } from 'tutti-ensembles';

export default defineProject({
  name: 'My ensemble',
  description: 'Two classes of points in the plane. Replace data and model with yours.',
  task: 'classification',
  hyperparameters: z.object({ width: z.int().min(1).default(32).meta({ help: 'Units of the hidden layer.' }) }),
  defaults: { members: 4, maxEpochs: 30, optimizer: { kind: 'adam', learningRate: 0.01 } },

  data: ({ seed }) =>
    splitDataset(twoMoons({ samples: 1000, seed }), { validation: 0.2, test: 0.2 }, new Generator(seed, 'split')),

  model: ({ hyperparameters: { width }, featureShape, targetSize }) =>
    tf.sequential({
      layers: [
        tf.layers.dense({ units: width, activation: 'relu', inputShape: [...featureShape] }),
        tf.layers.dense({ units: targetSize }),
      ],
    }),
});
